import { Type } from '@sinclair/typebox';
import type { ErrorCode } from '../../src/protocol/error.js';
import { ASCIICAST_TYPE } from '../../src/protocol/transcript.js';
import { CODES, type Operation, type Reply } from './operation.js';

const Octets = Type.String({ format: 'binary' });
const Text = Type.String();

const TOLD = ['ETag', 'Accept-Ranges', 'Content-Disposition', 'Exec-Next-Seq', 'Exec-Closed', 'Exec-Gap'];
const CONDITIONS = ['If-Match', 'If-None-Match'];

/** What a person types and sees in a shell. */
const CAST = `{"version":2,"width":80,"height":24,"timestamp":1768469400,"env":{"TERM":"xterm-256color"}}
[0.012,"o","$ "]
[1.48,"r","100x30"]
[2.105,"o","ls\\r\\nnotes.txt\\r\\n$ "]
`;

const RAW = {
  'application/octet-stream': { schema: Octets, example: 'hello\n' },
  'text/plain': { schema: Text, example: 'hello\n' },
};
const UNCHANGED: Reply = { description: 'The caller has these bytes already.', headers: TOLD };

const ERRORS: ErrorCode[] = [
  'invalid_request',
  'invalid_cursor',
  ...CODES.ONE,
  'not_acceptable',
  'not_a_tty',
  'cursor_ahead',
  'precondition_failed',
  'resource_exhausted',
];

/** The operations of transcripts, by method and path. */
export const TRANSCRIPT_OPERATIONS: Record<string, Operation> = {
  'GET /processes/{process_id}/transcript': {
    operationId: 'readTranscript',
    tag: 'Output',
    summary: 'Download all output',
    description:
      'All that is kept of the output at this moment, in memory and on disk, as a file: of one stream, or of all in the order in which it came. It never waits: of a process that runs it is what there is now, and before_seq = Exec-Next-Seq gives the same again later, or another part of it. What is no longer held is told by Exec-Gap, and the bytes are what is left. A single range is answered with that part; several with all of it. With format=asciicast, or Accept: application/x-asciicast, it is a recording of the terminal, asciicast v2, as asciinema plays it: when each output came, resizes, and a marker where some is missing. A recording has no length, no parts and no ETag. A transfer that breaks off was not the whole transcript.',
    headers: ['Range', 'If-Range', ...CONDITIONS],
    replies: {
      200: {
        description: 'The whole transcript.',
        content: { ...RAW, [ASCIICAST_TYPE]: { schema: Text, example: CAST } },
        headers: TOLD,
      },
      206: { description: 'The part asked for.', content: RAW, headers: [...TOLD, 'Content-Range'] },
      304: UNCHANGED,
    },
    errors: [...ERRORS, 'output_evicted', 'range_not_satisfiable'],
  },
  'HEAD /processes/{process_id}/transcript': {
    operationId: 'headTranscript',
    tag: 'Output',
    summary: 'Headers of all output',
    description: 'What GET would answer, without the bytes. An error is told by its status alone.',
    headers: CONDITIONS,
    replies: { 200: { description: 'The headers.', headers: TOLD }, 304: UNCHANGED },
    errors: ERRORS,
  },
};
