import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Script } from 'node:vm';

/** What the engine compiled of a file is beside it, by the same name with this behind it. */
const COMPILED = '.compiled';

const require = createRequire(import.meta.url);

/**
 * Loads the files of this program with what the engine compiled of them when they were built: that is half of a start. The engine itself
 * refuses what another version of it or one with other flags compiled, and compiles anew; for other files all stays as it was.
 */
export function useCompiledCode(): void {
  const own = dirname(fileURLToPath(import.meta.url));
  require.extensions['.cjs'] = (module, path) => {
    if (dirname(path) === own) run(module, path);
    else require.extensions['.js']?.(module, path);
  };
}

/** The engine keeps the name of a script with what it compiled: it says nothing of where that was. */
function run(module: NodeJS.Module, path: string): void {
  const source = `(function (exports, require, module, __filename, __dirname) { ${readFileSync(path, 'utf8')}\n})`;
  const cachedData = compiled(path);
  const script = new Script(source, { filename: `exec-gateway/${basename(path)}`, ...(cachedData ? { cachedData } : {}) });
  script.runInThisContext()(module.exports, (id: string) => module.require(id), module, path, dirname(path));
}

function compiled(path: string): Buffer | null {
  try {
    return readFileSync(path + COMPILED);
  } catch {
    return null; // it only starts more slowly
  }
}
