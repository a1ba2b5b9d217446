import { buildRouteMap } from '@stricli/core';
import { deleteVm, resetVm, startVm, stopVm } from './change.ts';
import { createVm } from './create.ts';
import { listVms, printLogs, showVm } from './read.ts';

export const vmRoutes = buildRouteMap({
  routes: {
    list: listVms,
    show: showVm,
    create: createVm,
    start: startVm,
    stop: stopVm,
    reset: resetVm,
    delete: deleteVm,
    logs: printLogs,
  },
  docs: { brief: 'Virtual machines' },
});
