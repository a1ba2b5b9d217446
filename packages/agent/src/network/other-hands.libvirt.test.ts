import { afterEach, beforeEach, expect, it } from 'vitest';
import { makeInterface, makeRule } from '../testing/make-spec.ts';
import { inNamespace, type RunCommand, runCommand } from './kernel/run-command.ts';
import { type Lab, openLab } from './testing/lab.ts';

const interfaces = [makeInterface('web')];
const old = { rules: [makeRule('old', { destinationPorts: ['81'] })], interfaces };
const wanted = { rules: [makeRule('new', { destinationPorts: ['22'] })], interfaces };
const isApplying = (args: readonly string[], input?: string) =>
  args.includes('nft') && input?.includes('chain forward');

let lab: Lab;
beforeEach(async () => {
  lab = await openLab();
});
afterEach(() => lab?.close());

it('the quick check notices that all rules of the host were removed', async () => {
  const network = lab.network();
  await network.applyFirewall(wanted);
  expect(await network.isInForce(wanted, { quickly: true })).toBe(true);
  await lab.nft('flush', 'ruleset');
  expect(await network.isInForce(wanted, { quickly: true })).toBe(false);
  await network.applyFirewall(wanted);
  expect(await network.isInForce(wanted)).toBe(true);
});

it('the thorough check notices that single rules were removed', async () => {
  const network = lab.network();
  await network.applyFirewall(wanted);
  await lab.nft('flush', 'chain', 'inet', 'gantry', 'forward');
  expect(await network.isInForce(wanted)).toBe(false);
});

it('late rules of a killed agent are not taken for the desired ones', async () => {
  let late = '';
  const recording: RunCommand = (program, args, input) => {
    if (isApplying(args, input)) late = input ?? '';
    return runCommand(program, args, input);
  };
  await lab.network({ run: recording }).applyFirewall(old);
  let isLate = true;
  const overtaken: RunCommand = async (program, args, input) => {
    const printed = await runCommand(program, args, input);
    if (isApplying(args, input) && isLate) {
      isLate = false;
      await inNamespace(runCommand, lab.host.netns)('nft', ['-f', '-'], late);
    }
    return printed;
  };
  const network = lab.network({ run: overtaken });
  await expect(network.applyFirewall(wanted)).rejects.toMatchObject({ code: 'firewall_replaced' });
  expect(await network.isInForce(wanted)).toBe(false);
  await network.applyFirewall(wanted);
  expect(await network.isInForce(wanted)).toBe(true);
});
