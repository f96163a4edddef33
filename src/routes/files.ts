import type { GatewayApp } from '../plugins/gateway-app.js';
import type { ExecutorFileSystem } from '../protocol/file-system.js';
import { addQueryCheck } from './file-parameters.js';
import { fileReadRoutes } from './files-read.js';
import { fileTreeRoutes } from './files-tree.js';
import { fileWriteRoute } from './files-write.js';

/**
 * Everything below `/fs`.
 * @param max_file_bytes the largest upload, in bytes; null for any
 */
export function fileRoutes(parent: GatewayApp, files: ExecutorFileSystem, max_file_bytes: number | null): void {
  parent.register((app: GatewayApp, _options, done) => {
    addQueryCheck(app);
    fileReadRoutes(app, files);
    fileWriteRoute(app, files, max_file_bytes);
    fileTreeRoutes(app, files);
    done();
  });
}
