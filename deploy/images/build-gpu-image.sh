#!/bin/sh
# Builds an image with GPU drivers: boots a cloud image of Debian or Ubuntu once, installs the software from
# a mirror in it, and writes the result as a new qcow2. docs/operators/gpu-image.md shows how.
set -eu

usage() {
    echo "usage: $0 --base IMAGE --output FILE --repository 'deb …' … [--keyring FILE] [--package NAME …]" >&2
    exit 2
}

base='' output='' keyring='' arguments=''
# Single quotes protect an argument, because the guest's shell reads it again.
quote() { printf " '%s'" "$(printf '%s' "$1" | sed "s/'/'\\\\''/g")"; }
while [ $# -gt 0 ]; do
    [ $# -ge 2 ] || usage
    case "$1" in
        --base) base=$2 ;;
        --output) output=$2 ;;
        --keyring) keyring=$2 ;;
        --repository|--package) arguments="$arguments $1$(quote "$2")" ;;
        *) usage ;;
    esac
    shift 2
done
[ -n "$base" ] && [ -n "$output" ] && [ -n "$arguments" ] || usage
if [ -e "$output" ]; then echo "$0: $output exists" >&2; exit 1; fi

case "$(uname -m)" in
    x86_64) emulator=qemu-system-x86_64 machine=q35 firmware=/usr/share/OVMF/OVMF_CODE_4M.fd ;;
    aarch64) emulator=qemu-system-aarch64 machine=virt firmware=/usr/share/AAVMF/AAVMF_CODE.fd ;;
    *) echo "$0: $(uname -m) is not supported" >&2; exit 1 ;;
esac
for program in "$emulator" qemu-img xorriso; do
    command -v "$program" > /dev/null || { echo "$0: $program is not installed" >&2; exit 1; }
done

here=$(dirname "$(readlink -f "$0")")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# The guest prints this line only if every command before it succeeded.
complete="gantry: the image is complete"
encoded() { base64 -w 0 "$1"; }
: > "$work/keyring"
[ -z "$keyring" ] || cp "$keyring" "$work/keyring"
cat > "$work/user-data" <<END
#cloud-config
write_files:
  - { path: /run/install-gpu-software.sh, permissions: '0755', encoding: b64, content: $(encoded "$here/install-gpu-software.sh") }
  - { path: /usr/share/keyrings/gantry-gpu.gpg, permissions: '0644', encoding: b64, content: '$(encoded "$work/keyring")' }
  - { path: /run/build.sh, permissions: '0755', encoding: b64, content: $(
        printf '#!/bin/sh\nexec > /dev/console 2>&1\n/run/install-gpu-software.sh%s && echo "%s"\nsync\npoweroff\n' "$arguments" "$complete" | base64 -w 0) }
runcmd: [/run/build.sh]
END
echo "instance-id: gantry-gpu-image" > "$work/meta-data"
xorriso -as mkisofs -quiet -V cidata -J -r -o "$work/seed.iso" "$work/user-data" "$work/meta-data"

qemu-img create -q -f qcow2 -F "$(qemu-img info --output=json "$base" | sed -n 's/^    "format": "\(.*\)",*$/\1/p')" \
    -b "$(readlink -f "$base")" "$work/disk.qcow2" 20G
if [ -w /dev/kvm ]; then accelerator=kvm cpu=host; else accelerator=tcg cpu=max; fi
"$emulator" -machine "$machine" -accel "$accelerator" -cpu "$cpu" -smp 4 -m 4096 -nodefaults -display none \
    -drive "if=pflash,format=raw,readonly=on,file=$firmware" \
    -drive "if=virtio,format=qcow2,file=$work/disk.qcow2" \
    -drive "if=virtio,format=raw,readonly=on,file=$work/seed.iso" \
    -nic user,model=virtio-net-pci -serial "file:$work/console.log" || true

if ! grep -q "$complete" "$work/console.log"; then
    tail -n 40 "$work/console.log" >&2
    echo "$0: the software was not installed; the end of the guest's console is above" >&2
    exit 1
fi
qemu-img convert -q -c -O qcow2 "$work/disk.qcow2" "$output.new"
mv "$output.new" "$output"
sha256sum "$output"
