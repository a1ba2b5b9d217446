/** The guest that boots without firmware writes this to its drives. */
export const GUEST_PATTERN = 'a guest wrote this';

/**
 * A startup script that prints what a guest sees of its PCI devices on the console. For an `edu` card
 * it prints the id in the first register and what the second register returns for a number; for a
 * `bochs-display` its id and the width that was written to it; for a drive whether a pattern that was
 * written is read back. Its lines begin with "SEEN"; the last line is "SEEN all".
 */
export function guestLook({ pattern }: { pattern: string }): string {
  return `#!/bin/sh
for device in /sys/bus/pci/devices/*; do
  read -r vendor <$device/vendor
  read -r id <$device/device
  read -r class <$device/class
  echo "SEEN pci \${vendor#0x}:\${id#0x} \${class#0x}"
  if [ "$vendor:$id" = 0x1234:0x11e8 ]; then
    echo 1 >$device/enable
    read -r start rest <$device/resource
    devmem $((start + 4)) 32 0x12345678
    echo "SEEN edu $(devmem $start 32) $(devmem $((start + 4)) 32)"
  fi
  if [ "$vendor:$id" = 0x1234:0x1111 ]; then
    echo 1 >$device/enable
    set -- $(sed -n 3p $device/resource)
    devmem $(($1 + 0x502)) 16 0x0280
    echo "SEEN bochs $(devmem $(($1 + 0x500)) 16) $(devmem $(($1 + 0x502)) 16)"
  fi
done
for drive in /sys/block/nvme*n1; do
  [ -e "$drive" ] || continue
  name=/dev/\${drive##*/}
  echo "SEEN drive $(cat $drive/device/serial) $(cat $drive/size)"
  echo "SEEN before $(dd if=$name bs=4096 count=1 2>/dev/null | tr -dc 'a-zA-Z0-9-' | cut -c1-40)"
  yes '${pattern}' | dd bs=4096 count=256 iflag=fullblock of=/run/pattern 2>/dev/null
  dd if=/run/pattern of=$name bs=65536 conv=fsync 2>/dev/null
  echo 3 >/proc/sys/vm/drop_caches
  dd if=$name of=/run/read bs=4096 count=256 2>/dev/null
  cmp /run/pattern /run/read && echo "SEEN pattern on $name"
done
echo "SEEN all"
`;
}

/**
 * A script that prints how a guest sees its NUMA nodes, and where in the PCIe tree its `bochs-display` cards
 * are: their node, and the path of bridges to them. Its lines begin with "SEEN", and it does not end after the
 * last line, "SEEN all".
 */
export const TOPOLOGY_LOOK = `#!/bin/sh
for node in /sys/devices/system/node/node[0-9]*; do
  set -- $(grep MemTotal $node/meminfo)
  echo "SEEN node \${node##*/node} cpus $(cat $node/cpulist) memory $4"
done
for device in /sys/bus/pci/devices/*; do
  [ "$(cat $device/vendor):$(cat $device/device)" = 0x1234:0x1111 ] || continue
  echo "SEEN card $(cat $device/numa_node) $(readlink -f $device)"
done
for flag in svm vmx; do
  grep -qw $flag /proc/cpuinfo && echo "SEEN flag $flag"
done
echo "SEEN all"
while sleep 3600; do :; done
`;
