import cors from '@fastify/cors';
import type { GatewayApp } from './gateway-app.js';

/** Reply headers a page may read. */
const EXPOSED = [
  'Accept-Ranges',
  'Content-Disposition',
  'Content-Range',
  'ETag',
  'Exec-Metadata',
  'Exec-Next-Seq',
  'Exec-Exited',
  'Exec-Exit-Code',
  'Exec-Closed',
  'Exec-Gap',
  'Exec-Screen-Complete',
  'Location',
  'Retry-After',
  'Tus-Resumable',
  'Tus-Version',
  'Upload-Expires',
  'Upload-Length',
  'Upload-Offset',
  'X-Request-Id',
];

/** Lets pages of the allowed origins call and read; answers their preflights, which carry no token. */
export function addCors(app: GatewayApp, allow_origins: string[]): void {
  app.register(cors, {
    origin: (origin, done) => done(null, origin !== undefined && allow_origins.includes(origin)),
    methods: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'],
    allowedHeaders: [
      'Authorization',
      'Content-Encoding',
      'Content-Type',
      'If-Match',
      'If-Modified-Since',
      'If-None-Match',
      'If-Range',
      'If-Unmodified-Since',
      'Last-Event-ID',
      'Range',
      'Tus-Resumable',
      'Upload-Length',
      'Upload-Metadata',
      'Upload-Offset',
      'X-Request-Id',
    ],
    exposedHeaders: EXPOSED,
    strictPreflight: false,
    maxAge: 600,
  });
}
