/** How the names of libvirt's definition are spelled in TypeScript. */

/** Accepts DOMAIN_GET_XML_DESC, hv_ver, callbackID and usageType. */
export function camelCase(name: string): string {
  const words = name.includes('_') ? name.toLowerCase().split('_') : [name];
  const joined = words.map((word, index) => (index === 0 ? word : capitalize(word))).join('');
  return joined.replace(/ID$/, 'Id');
}

/** The type of a struct: without the program's prefix, and without "nonnull". */
export function typeName(name: string): string {
  const plain = name
    .replace(/^remote_/, '')
    .replace(/^vir/, '')
    .replace(/nonnull_?/i, '');
  return plain.split('_').map(capitalize).join('');
}

export function codecName(name: string): string {
  const type = typeName(name);
  return `${type.charAt(0).toLowerCase()}${type.slice(1)}Codec`;
}

/** The object of an enum's members: virNetMessageType becomes NET_MESSAGE_TYPE. */
export function constantName(name: string): string {
  return name
    .replace(/^(remote_|vir)/, '')
    .replace(/([a-z])([A-Z])/g, '$1_$2')
    .toUpperCase();
}

function capitalize(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}
