import { expect, it } from 'vitest';
import { createPathRouter } from './path-router.ts';

const router = createPathRouter<string>();
for (const path of [
  '/vms/:vm_id',
  '/vms/operations',
  '/vms/operations/:operation_id',
  '/vms/:vm_id/attach-disks',
  '/vms/:vm_id:reset',
  '/vms:count',
  '/projects/:project_id/vms/:vm_id',
  '/',
]) {
  router.add('GET', path, path);
}
router.add('POST', '/vms/:vm_id', 'post');

const match = (method: string, path: string) => router.match(method, path)[0];

it.each([
  ['/vms/1', '/vms/:vm_id', { vm_id: '1' }],
  ['/vms/operations', '/vms/operations', {}],
  ['/vms/operations/7', '/vms/operations/:operation_id', { operation_id: '7' }],
  ['/vms/1:reset', '/vms/:vm_id:reset', { vm_id: '1' }],
  ['/vms:count', '/vms:count', {}],
  ['/vms/1:other', '/vms/:vm_id', { vm_id: '1:other' }],
  ['/vms/:reset', '/vms/:vm_id', { vm_id: ':reset' }],
  ['/vms/1/attach-disks', '/vms/:vm_id/attach-disks', { vm_id: '1' }],
  ['/projects/a/vms/b', '/projects/:project_id/vms/:vm_id', { project_id: 'a', vm_id: 'b' }],
  ['/', '/', {}],
])('the path %s matches the route %s', (path, route, params) =>
  expect(match('GET', path)).toEqual([[route, params]]),
);

it('a route matches only its method', () => {
  expect(match('POST', '/vms/1')).toEqual([['post', { vm_id: '1' }]]);
  expect(match('DELETE', '/vms/1')).toEqual([]);
});

it.each([
  '/vms',
  '/vms/',
  '/vms//',
  '/vms/1/',
  '/vms/operations/',
  '/vms/1/2',
  '/projects/a/vms/',
  '//vms/1',
  '/nothing',
  '/nothing:count',
  '/vms:other',
  '/__proto__',
])('the path %s matches no route', (path) => expect(match('GET', path)).toEqual([]));

it('names of object members are plain text', () => {
  expect(match('GET', '/vms/__proto__')).toEqual([['/vms/:vm_id', { vm_id: '__proto__' }]]);
});
