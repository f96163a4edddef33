import { GatewayError } from '../protocol/error.js';
import type { FileMetadata } from '../protocol/file.js';
import type { FileContent } from '../protocol/file-system.js';
import { type Part, RemoteBytes } from './remote-bytes.js';
import type { WireStream } from './wire.js';

/** The content of a file behind a gateway. */
export class RemoteContent extends RemoteBytes implements FileContent {
  readonly metadata: FileMetadata;

  /** @throws {GatewayError} `upstream_unreachable` for an answer that no gateway gives */
  constructor(stream: WireStream, part: Part) {
    super(stream, part);
    this.metadata = metadataOf(stream);
  }
}

function metadataOf({ headers, close }: WireStream): FileMetadata {
  try {
    return JSON.parse(headers.get('exec-metadata') as string) as FileMetadata;
  } catch (cause) {
    close();
    const detail = 'The answer has no Exec-Metadata header: something on the way dropped it, or it is not from a gateway.';
    throw new GatewayError('upstream_unreachable', detail, {}, { cause });
  }
}
