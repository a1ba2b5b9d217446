import { buildOpenApiDocument } from '../src/http/openapi.ts';
import { ALL_ROUTES } from '../src/routes.ts';

/** Prints the OpenAPI document that the api serves, for generators of clients. */
process.stdout.write(JSON.stringify(buildOpenApiDocument([...ALL_ROUTES])));
