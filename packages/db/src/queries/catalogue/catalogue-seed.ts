import { newId } from '@gantry/model/ids';
import { CATALOGUE } from '@gantry/model/vm-types';
import type postgres from 'postgres';

/** The catalogue of a new installation. */
const LOCATIONS = [
  { name: 'eu-north-a', region: 'eu-north', zone: 'a', description: 'Europe North, zone A' },
  { name: 'us-east-a', region: 'us-east', zone: 'a', description: 'US East, zone A' },
];
const IMAGES = [
  { name: 'debian-12', description: 'Debian 12', tags: ['linux', 'debian'] },
  { name: 'ubuntu-24-04', description: 'Ubuntu 24.04 LTS', tags: ['linux', 'ubuntu'] },
];
/** USD per GB and hour. The contract defines only this price. */
const DISK_PRICES = [
  { resource_type: 'persistent-ssd', usd_per_hour: '0.00013' },
  { resource_type: 'shared-volume', usd_per_hour: '0.00013' },
];

/** Adds the contract's VM types; to an empty catalogue also locations and images. */
export async function insertCatalogue(sql: postgres.Sql): Promise<void> {
  await sql.begin(async (tx) => {
    const [{ fresh } = { fresh: false }] = await tx<{ fresh: boolean }[]>`
      select not exists (select from vm_types) and not exists (select from locations) as fresh`;
    const known = await tx<{ name: string }[]>`select name from vm_types`;
    const missing = CATALOGUE.filter((type) => !known.some(({ name }) => name === type.name));
    for (const type of missing) {
      await tx`insert into vm_types ${tx({
        name: type.name,
        description: type.description,
        cpu_cores: type.cpuCores,
        cpu_type: type.cpuType,
        memory_gb: type.memoryGb,
        memory_type: type.memoryType,
        disk_gb: type.diskGb,
        disk_type: type.diskType,
        disk_count: type.diskCount,
        gpu_count: type.gpuCount,
        gpu_type: type.gpuType,
        network_gbps: type.networkGbps,
      })}`;
    }
    if (!fresh) return;
    await tx`insert into locations ${tx(LOCATIONS)}`;
    await tx`insert into images ${tx(IMAGES.map((image) => ({ id: newId(), ...image })))}`;
    await tx`insert into prices ${tx(DISK_PRICES)}`;
    await tx`insert into vm_type_locations select t.name, l.name from vm_types t, locations l`;
    await tx`insert into image_locations select i.id, l.name from images i, locations l`;
  });
}
