import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The licenses of the packages that a bundle took in, as one text. */
export function packageLicenses(output) {
  const folders = new Set(output.flatMap(({ moduleIds = [] }) => moduleIds.map(packageOf).filter(Boolean)));
  return [...folders].sort().map(licenseOf).join('\n\n---\n\n');
}

/** The folder of the package that a module is of; null where it is one of ours. */
function packageOf(id) {
  return /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(id.replace(/^\0/, ''))?.[0] ?? null;
}

function licenseOf(folder) {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const files = existsSync(folder) ? readdirSync(folder).filter((file) => /^licen[cs]e|^copying|^notice/i.test(file)) : [];
  return [`${name} ${version} (${license})`, ...files.map((file) => readFileSync(join(folder, file), 'utf8').trim())].join('\n\n');
}
