import { buildApplication, buildRouteMap, type RouteMap, text_en } from '@stricli/core';
import manifest from '../package.json' with { type: 'json' };
import type { CliContext } from './cli-context.ts';
import { accessKeyRoutes } from './commands/access-key.ts';
import { backupRoutes } from './commands/backup/routes.ts';
import { availabilityCommand } from './commands/catalogue.ts';
import { completionCommand } from './commands/completion.ts';
import { contextRoutes } from './commands/context.ts';
import { diskRoutes } from './commands/disk.ts';
import { eventsCommand } from './commands/events.ts';
import { firewallRoutes } from './commands/firewall/routes.ts';
import { imageRoutes } from './commands/image/image-routes.ts';
import { keyRoutes } from './commands/key.ts';
import { loginCommand } from './commands/login.ts';
import { logoutCommand } from './commands/logout.ts';
import { addressRoutes } from './commands/network/addresses.ts';
import { networkRoutes } from './commands/network/networks.ts';
import { operationRoutes } from './commands/operation.ts';
import { deviceRoutes } from './commands/operator/device.ts';
import { doctorCommand } from './commands/operator/doctor.ts';
import { explainCommand } from './commands/operator/explain.ts';
import { drainHost, hostRoutes } from './commands/operator/host-commands.ts';
import { joinCommand } from './commands/operator/join.ts';
import { rolloutRoutes } from './commands/operator/rollout-commands.ts';
import { storageRoutes } from './commands/operator/storage/routes.ts';
import { tenantRoutes } from './commands/operator/tenant.ts';
import { projectRoutes } from './commands/project.ts';
import { snapshotRoutes } from './commands/snapshot.ts';
import { usageCommand } from './commands/usage.ts';
import { vmRoutes } from './commands/vm/routes.ts';
import { webhookRoutes } from './commands/webhook/routes.ts';
import { describeError } from './describe-error.ts';
import { exitCodeOf } from './exit-codes.ts';
import { buildManCommand } from './man/man-command.ts';

const routes: RouteMap<CliContext> = buildRouteMap({
  routes: {
    login: loginCommand,
    logout: logoutCommand,
    context: contextRoutes,
    project: projectRoutes,
    vm: vmRoutes,
    availability: availabilityCommand,
    image: imageRoutes,
    disk: diskRoutes,
    snapshot: snapshotRoutes,
    backup: backupRoutes,
    network: networkRoutes,
    address: addressRoutes,
    firewall: firewallRoutes,
    key: keyRoutes,
    accessKey: accessKeyRoutes,
    usage: usageCommand,
    operation: operationRoutes,
    events: eventsCommand,
    webhook: webhookRoutes,
    host: hostRoutes,
    device: deviceRoutes,
    storage: storageRoutes,
    join: joinCommand,
    drain: drainHost,
    rollout: rolloutRoutes,
    explain: explainCommand,
    tenant: tenantRoutes,
    doctor: doctorCommand,
    completion: completionCommand,
    man: buildManCommand(() => ({ routes, version: manifest.version })),
  },
  docs: {
    brief: 'Gantry: virtual machines with GPUs',
    fullDescription: 'Start with: gantry login. Every command explains itself with --help.',
  },
});

export const application = buildApplication(routes, {
  name: 'gantry',
  versionInfo: { currentVersion: manifest.version },
  scanner: { caseStyle: 'allow-kebab-for-camel', allowArgumentEscapeSequence: true },
  documentation: { caseStyle: 'convert-camel-to-kebab', onlyRequiredInUsageLine: true },
  localization: {
    text: { ...text_en, exceptionWhileRunningCommand: (error: unknown) => describeError(error) },
  },
  determineExitCode: exitCodeOf,
});
