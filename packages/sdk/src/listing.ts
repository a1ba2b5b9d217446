/**
 * The reply of a list method. `await` gives the requested page. `for await` gives every item of it
 * and of the pages after it, and requests each page when it is needed.
 */
export type Listing<Page, Item> = Promise<Page> &
  AsyncIterable<Item> & {
    /** Iterates over the requested page and the pages after it. */
    pages(): AsyncIterable<Page>;
  };

type UntypedPage = readonly unknown[] | { items: readonly unknown[]; next_page_token?: string };

/** `read` requests the page of a token, or the first one without a token. */
export function listing<Page, Item>(
  read: (pageToken: string | undefined) => Promise<Page>,
): Listing<Page, Item> {
  const first = read(undefined);
  async function* pages() {
    let page = await first;
    yield page;
    for (let token = nextToken(page); token !== ''; token = nextToken(page)) {
      page = await read(token);
      yield page;
    }
  }
  async function* items() {
    for await (const page of pages()) yield* itemsOf(page) as readonly Item[];
  }
  return Object.assign(first, { pages, [Symbol.asyncIterator]: items });
}

function itemsOf(page: unknown): readonly unknown[] {
  const list = page as UntypedPage;
  return 'items' in list ? list.items : list;
}

/** Empty on the last page. Lists that are never long have only one page, without a token. */
function nextToken(page: unknown): string {
  const list = page as UntypedPage;
  return 'items' in list ? (list.next_page_token ?? '') : '';
}
