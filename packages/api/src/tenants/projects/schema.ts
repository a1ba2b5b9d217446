import { z } from '@hono/zod-openapi';
import { Id, Label, Page, ReplyId } from '../../http/fields.ts';

export const Project = z
  .object({ id: ReplyId, name: z.string(), version: z.string(), organization_id: ReplyId })
  .openapi('Project');

export const Projects = z.array(Project);
export const ProjectPage = Page(Project);

export const CreateProject = z
  .strictObject({ name: Label, organization_id: Id })
  .openapi('CreateProject');

export const ChangeProject = z.strictObject({ name: Label }).openapi('ChangeProject');
