import { listImages } from '@gantry/db/queries/catalogue';
import { route } from '../http/route.ts';
import { changeImage, createImage, deleteImage } from './change.ts';
import { AdminImage, AdminImages, ChangeImage, CreateImage, ImageParams } from './schema.ts';
import { adminImageView } from './view.ts';

export const adminImageRoutes = [
  route({
    id: 'admin-images.list',
    method: 'get',
    path: '/admin/images',
    summary: 'OS images, retired ones too',
    access: { level: 'operator' },
    reply: AdminImages,
    handle: async ({ sql }) => ({
      items: (await listImages(sql, { retired: true })).map(adminImageView),
    }),
  }),
  route({
    id: 'admin-images.create',
    method: 'post',
    path: '/admin/images',
    summary: 'Add an OS image',
    access: { level: 'operator' },
    body: CreateImage,
    reply: AdminImage,
    handle: async ({ sql, body, now }) => adminImageView(await createImage({ sql, body, now })),
  }),
  route({
    id: 'admin-images.change',
    method: 'patch',
    path: '/admin/images/{image_id}',
    summary: 'Describe an OS image anew, retire it, or change where it can be used',
    access: { level: 'operator' },
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
    summary: 'Delete an OS image that no VM was made from',
    access: { level: 'operator' },
    params: ImageParams,
    reply: AdminImage,
    handle: async ({ sql, params }) => adminImageView(await deleteImage(sql, params.image_id)),
  }),
];
