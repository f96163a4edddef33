export type { AttachAbout } from '../protocol/attach.js';
export type { SignalScope, Written } from '../protocol/control.js';
export { type ErrorCode, GatewayError, type ProblemFields } from '../protocol/error.js';
export type {
  CallOptions,
  ExecProcess,
  FollowQuery,
  GetQuery,
  ListQuery,
  ReadQuery,
  Started,
  StartOptions,
  Subscription,
  TerminateOptions,
  WatchQuery,
  WriteOptions,
} from '../protocol/exec-process.js';
export type {
  Copied,
  CopyRequest,
  DirectoryEntry,
  DirectoryList,
  FileMetadata,
  FileType,
  MoveRequest,
  Removed,
  Stored,
} from '../protocol/file.js';
export type {
  CreateDirectoryOptions,
  ExecutorFileSystem,
  FileBody,
  FileContent,
  FilePath,
  MetadataOptions,
  ReadDirectoryOptions,
  ReadFileOptions,
  RemoveOptions,
  WriteFileOptions,
} from '../protocol/file-system.js';
export type {
  ChangeEvent,
  ClosedEvent,
  ExitedEvent,
  Gap,
  GapEvent,
  OutputEvent,
  ProcessEvent,
  ReadOutput,
  Stream,
} from '../protocol/output.js';
export type { ExitReason, ProcessInfo, ProcessList, ProcessState, ProcessUsage, Terminated } from '../protocol/process.js';
export type { RunOutput, RunRequest, RunResult } from '../protocol/run.js';
export type { EnvPolicy, StartRequest, TtySize } from '../protocol/start.js';
export { Attached, attach } from './attach.js';
export type { AttachOptions, GatewayAttachOptions } from './attach-options.js';
export type { SocketClass, SocketLike } from './attach-socket.js';
export { Files } from './files.js';
export { Gateway, type RunProcessOptions, type StartProcessOptions } from './gateway.js';
export type { Input } from './input-bytes.js';
export { RemoteExecProcess, type RemoteOptions } from './remote-exec-process.js';
export { RemoteFileSystem } from './remote-file-system.js';
export type { RetryOptions } from './retry.js';
