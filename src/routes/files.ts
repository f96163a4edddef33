import type { GatewayApp } from '../plugins/gateway-app.js';
import type { Probes } from '../plugins/probes.js';
import type { ExecutorFileSystem } from '../protocol/file-system.js';
import { addConditionCheck } from './condition-check.js';
import { addQueryCheck } from './file-parameters.js';
import { fileArchiveRoutes } from './files-archive.js';
import { fileReadRoutes } from './files-read.js';
import { fileSearchRoute } from './files-search.js';
import { fileTreeRoutes } from './files-tree.js';
import { fileUploadRoutes } from './files-upload.js';
import { fileWatchRoute } from './files-watch.js';
import { fileWriteRoute } from './files-write.js';

/** What the routes of files have to know. */
export interface FileSettings {
  /** The largest upload, in bytes; null for any. */
  max_file_bytes: number | null;
  /** Silence on a stream after which a comment is sent, in milliseconds. */
  heartbeat_ms: number;
}

/** Everything below `/fs`. */
export function fileRoutes(parent: GatewayApp, files: ExecutorFileSystem, probes: Probes, settings: FileSettings): void {
  parent.register((app: GatewayApp, _options, done) => {
    addQueryCheck(app);
    addConditionCheck(app);
    fileReadRoutes(app, files);
    fileWriteRoute(app, files, settings.max_file_bytes);
    fileUploadRoutes(app, files, settings.max_file_bytes);
    fileTreeRoutes(app, files);
    fileArchiveRoutes(app, files, settings.max_file_bytes);
    fileSearchRoute(app, files, probes);
    fileWatchRoute(app, files, probes, settings.heartbeat_ms);
    done();
  });
}
