import { element, renderXml, type XmlElement } from '../../base/xml.ts';
import {
  DOMAIN_NAMESPACE,
  DOMAIN_NAMESPACE_PREFIX,
  type DomainMetadata,
} from './domain-definition.ts';

/**
 * For virDomainSetMetadata, which adds the namespace itself and fails if the elements have it
 * already.
 */
export function renderMetadata(metadata: DomainMetadata): string {
  return renderXml(vmElement(metadata, { prefix: '', attributes: {} }));
}

export function metadataElement(metadata: DomainMetadata): XmlElement {
  const attributes = { [`xmlns:${DOMAIN_NAMESPACE_PREFIX}`]: DOMAIN_NAMESPACE };
  const vm = vmElement(metadata, { prefix: `${DOMAIN_NAMESPACE_PREFIX}:`, attributes });
  return element('metadata', {}, [vm]);
}

type Namespace = { prefix: string; attributes: Record<string, string> };

function vmElement(metadata: DomainMetadata, { prefix, attributes }: Namespace): XmlElement {
  const { vmId, revision, generation, devices, volumes } = metadata;
  return element(`${prefix}vm`, { ...attributes, id: vmId, revision, generation }, [
    ...devices.map(({ kind, address }) => element(`${prefix}device`, { kind, address })),
    ...volumes.map((volume) =>
      element(`${prefix}volume`, { id: volume.id, size: volume.sizeBytes }),
    ),
  ]);
}
