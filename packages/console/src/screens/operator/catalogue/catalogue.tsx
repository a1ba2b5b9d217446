import { PageHeader } from '../../../components/page-header.tsx';
import { Tabs } from '../../../components/tabs.tsx';
import { AddressPools } from './address-pools.tsx';
import { ImageList } from './image-list.tsx';
import { LocationList } from './location-list.tsx';
import { PriceList } from './price-list.tsx';
import { VmTypeList } from './vm-type-list.tsx';

/** What tenants can use, and what it costs. */
export function CatalogueScreen() {
  return (
    <>
      <PageHeader
        title="Catalogue"
        description="What tenants can choose, and what it costs them."
      />
      <Tabs
        label="Catalogue"
        tabs={[
          { id: 'types', label: 'VM types', content: <VmTypeList /> },
          { id: 'prices', label: 'Prices', content: <PriceList /> },
          { id: 'images', label: 'Images', content: <ImageList /> },
          { id: 'addresses', label: 'Public addresses', content: <AddressPools /> },
          { id: 'locations', label: 'Locations', content: <LocationList /> },
        ]}
      />
    </>
  );
}
