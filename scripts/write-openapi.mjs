// Turns openapi.yaml into the JSON that the gateway serves and the package exports.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { parse } from 'yaml';

const root = new URL('..', import.meta.url);
const document = parse(readFileSync(new URL('openapi.yaml', root), 'utf8'));
mkdirSync(new URL('dist/', root), { recursive: true });
writeFileSync(new URL('dist/openapi.json', root), `${JSON.stringify(document)}\n`);
