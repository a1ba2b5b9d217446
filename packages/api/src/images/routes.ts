import { listImages, readImage } from '@gantry/db/queries/catalogue/catalogue';
import { imageView } from '@gantry/db/queries/images/image-view';
import { listProjectImages, readProjectImage } from '@gantry/db/queries/images/project-images';
import { found } from '@gantry/model/errors';
import { ProjectParams } from '../http/fields.ts';
import { ResourceQuery, resourcePage, toListing } from '../http/lists/resource-list.ts';
import { route } from '../http/route.ts';
import { OperationReply } from '../operations/schema.ts';
import { operationReply } from '../operations/view.ts';
import { changeImage, createImage, deleteImage } from './change.ts';
import { changeCustomImage, createCustomImage, deleteCustomImage } from './custom.ts';
import {
  ChangeCustomImage,
  CreateCustomImage,
  ImageChunk,
  ImageUpload,
  MOST_CHUNK_BODY_BYTES,
} from './custom-schema.ts';
import {
  AdminImage,
  AdminImages,
  ChangeImage,
  CreateImage,
  Image,
  ImagePage,
  ImageParams,
  ProjectImageParams,
} from './schema.ts';
import { addChunk, finishUpload, readUpload } from './upload.ts';
import { adminImageView } from './view.ts';

export const imageRoutes = [
  route({
    id: 'images.list',
    method: 'get',
    path: '/projects/{project_id}/images',
    summary: 'List the OS images',
    access: { level: 'project', role: 'read-only' },
    params: ProjectParams,
    query: ResourceQuery,
    reply: ImagePage,
    handle: async ({ sql, scope, query }) => {
      const rows = await listProjectImages(sql, toListing(scope.projectId, query));
      return resourcePage(rows, query, imageView);
    },
  }),
  route({
    id: 'images.get',
    method: 'get',
    path: '/projects/{project_id}/images/{image_id}',
    summary: 'Read an OS image',
    access: { level: 'project', role: 'read-only' },
    params: ProjectImageParams,
    reply: Image,
    handle: async ({ sql, scope, params }) => {
      const key = { projectId: scope.projectId, imageId: params.image_id };
      return imageView(found(await readProjectImage(sql, key), 'image'));
    },
  }),
  route({
    id: 'images.create',
    method: 'post',
    path: '/projects/{project_id}/images',
    summary: 'Make an image of a snapshot, of a file at a URL, or of a file that is uploaded',
    access: { level: 'project', role: 'member' },
    params: ProjectParams,
    body: CreateCustomImage,
    reply: OperationReply,
    handle: async ({ deps, sql, scope, body, now, deadlineMs }) => {
      const place = { sql, projectId: scope.projectId, now, deadlineMs };
      const { imageNetworks: networks, imageUploads: uploads, hasImageStore: hasStore } = deps;
      const creation = { ...place, body, networks, uploads, hasStore };
      return operationReply(await createCustomImage(creation));
    },
  }),
  route({
    id: 'images.change',
    method: 'patch',
    path: '/projects/{project_id}/images/{image_id}',
    summary: 'Change the description, the tags or the visibility of an image of the project',
    access: { level: 'project', role: 'member' },
    params: ProjectImageParams,
    body: ChangeCustomImage,
    reply: OperationReply,
    handle: async ({ sql, scope, params, body, now, deadlineMs }) => {
      const place = { sql, projectId: scope.projectId, now, deadlineMs };
      const target = { ...place, imageId: params.image_id };
      return operationReply(await changeCustomImage({ ...target, body }));
    },
  }),
  route({
    id: 'images.delete',
    method: 'delete',
    path: '/projects/{project_id}/images/{image_id}',
    summary: 'Delete an image of the project; VMs that have it keep it',
    access: { level: 'project', role: 'member' },
    params: ProjectImageParams,
    reply: OperationReply,
    handle: async ({ sql, scope, params, now, deadlineMs }) => {
      const place = { sql, projectId: scope.projectId, now, deadlineMs };
      return operationReply(await deleteCustomImage({ ...place, imageId: params.image_id }));
    },
  }),
  route({
    id: 'image-uploads.get',
    method: 'get',
    path: '/projects/{project_id}/images/{image_id}/upload',
    summary: 'Read how much of the file of an image was received',
    access: { level: 'project', role: 'read-only' },
    params: ProjectImageParams,
    reply: ImageUpload,
    handle: async ({ deps, sql, scope, params, now, deadlineMs }) => {
      const place = { sql, projectId: scope.projectId, now, deadlineMs };
      const target = { ...place, imageId: params.image_id };
      return await readUpload({ ...target, directory: deps.imageUploads });
    },
  }),
  route({
    id: 'image-uploads.add',
    method: 'post',
    path: '/projects/{project_id}/images/{image_id}/upload',
    summary: 'Append a chunk to the file of an image',
    access: { level: 'project', role: 'member' },
    params: ProjectImageParams,
    body: ImageChunk,
    maxBodyBytes: MOST_CHUNK_BODY_BYTES,
    reply: ImageUpload,
    handle: async ({ deps, sql, scope, params, body, now, deadlineMs }) => {
      const place = { sql, projectId: scope.projectId, now, deadlineMs };
      const target = { ...place, imageId: params.image_id };
      return await addChunk({ ...target, directory: deps.imageUploads }, body);
    },
  }),
  route({
    id: 'images.finish-upload',
    method: 'post',
    path: '/projects/{project_id}/images/{image_id}:finish-upload',
    summary: 'Make the image of the file that was uploaded',
    access: { level: 'project', role: 'member' },
    params: ProjectImageParams,
    reply: OperationReply,
    handle: async ({ deps, sql, scope, params, now, deadlineMs }) => {
      const place = { sql, projectId: scope.projectId, now, deadlineMs };
      const target = { ...place, imageId: params.image_id };
      const directory = deps.imageUploads;
      return operationReply(await finishUpload({ ...target, directory }));
    },
  }),
  route({
    id: 'admin-images.list',
    method: 'get',
    path: '/admin/images',
    summary: 'List the OS images, including retired ones',
    access: { level: 'operator', role: 'read-only' },
    reply: AdminImages,
    handle: async ({ sql }) => ({
      items: (await listImages(sql, { retired: true })).map(adminImageView),
    }),
  }),
  route({
    id: 'admin-images.get',
    method: 'get',
    path: '/admin/images/{image_id}',
    summary: 'Read an OS image, also a retired one',
    access: { level: 'operator', role: 'read-only' },
    params: ImageParams,
    reply: AdminImage,
    handle: async ({ sql, params }) =>
      adminImageView(found(await readImage(sql, { id: params.image_id, retired: true }), 'image')),
  }),
  route({
    id: 'admin-images.create',
    method: 'post',
    path: '/admin/images',
    summary: 'Add an OS image',
    access: { level: 'operator', role: 'admin' },
    body: CreateImage,
    reply: AdminImage,
    handle: async ({ sql, body, now }) => adminImageView(await createImage({ sql, body, now })),
  }),
  route({
    id: 'admin-images.change',
    method: 'patch',
    path: '/admin/images/{image_id}',
    summary: 'Change the description, the locations or the source of an OS image, or retire it',
    access: { level: 'operator', role: 'admin' },
    params: ImageParams,
    body: ChangeImage,
    reply: AdminImage,
    handle: async ({ sql, params, body }) =>
      adminImageView(await changeImage({ sql, imageId: params.image_id, body })),
  }),
  route({
    id: 'admin-images.delete',
    method: 'delete',
    path: '/admin/images/{image_id}',
    summary: 'Delete an OS image that no VM was created from',
    access: { level: 'operator', role: 'admin' },
    params: ImageParams,
    reply: AdminImage,
    handle: async ({ sql, params }) => adminImageView(await deleteImage(sql, params.image_id)),
  }),
];
