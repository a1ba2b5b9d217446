import { buildRouteMap } from '@stricli/core';
import { deleteVm, resetVm, startVm, stopVm } from './change.ts';
import { openConsole } from './console.ts';
import { createVm } from './create.ts';
import { moveVm } from './move.ts';
import { listVms, printLogs, showVm } from './read.ts';
import { sshVm } from './ssh.ts';
import { tagVm } from './tag.ts';

export const vmRoutes = buildRouteMap({
  routes: {
    list: listVms,
    show: showVm,
    create: createVm,
    start: startVm,
    stop: stopVm,
    reset: resetVm,
    move: moveVm,
    tag: tagVm,
    delete: deleteVm,
    logs: printLogs,
    ssh: sshVm,
    console: openConsole,
  },
  docs: { brief: 'Virtual machines' },
});
