import { setMaxListeners } from 'node:events';
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import { type FastifyBaseLogger, fastify, LogController } from 'fastify';
import { CodexServer } from './codex/codex-server.js';
import type { AppConfig } from './config.js';
import { createLogger } from './logger.js';
import { addAuth, type Keys } from './plugins/auth.js';
import { addJsonParser } from './plugins/body-parsers.js';
import { addBodyTimeout } from './plugins/body-timeout.js';
import { addConnections, beginReply } from './plugins/connections.js';
import { addCors } from './plugins/cors.js';
import { addErrors, sendProblem, toGatewayError } from './plugins/errors.js';
import { addExpectationCheck } from './plugins/expectation.js';
import type { GatewayApp } from './plugins/gateway-app.js';
import { addHostCheck } from './plugins/host-check.js';
import { addOriginCheck } from './plugins/origin-check.js';
import type { Probes } from './plugins/probes.js';
import { answerBrokenRequest } from './plugins/raw-errors.js';
import { addReplyHeaders, setReplyHeaders } from './plugins/reply-headers.js';
import { requestId } from './plugins/request-id.js';
import { type RequestCounts, RequestLog } from './plugins/request-log.js';
import { Sessions } from './plugins/sessions.js';
import { addShutdownCheck } from './plugins/shutdown-check.js';
import { Tickets } from './plugins/tickets.js';
import { addUnknownAddress } from './plugins/unknown-address.js';
import { addUnreadBody } from './plugins/unread-body.js';
import { addUploadBudget } from './plugins/upload-budget.js';
import { addValidation } from './plugins/validation.js';
import { addWebSockets, endHandedOver } from './plugins/websocket.js';
import type { ExecProcess } from './protocol/exec-process.js';
import type { ExecutorFileSystem } from './protocol/file-system.js';
import type { Sandbox } from './protocol/sandbox.js';
import { attachRoute } from './routes/attach.js';
import { controlRoutes } from './routes/control.js';
import { eventRoutes } from './routes/events.js';
import { execServerRoute } from './routes/exec-server.js';
import { fileRoutes } from './routes/files.js';
import { healthRoutes } from './routes/health.js';
import { metricsRoute } from './routes/metrics.js';
import { openapiRoute } from './routes/openapi.js';
import { outputRoute } from './routes/output.js';
import { processRoutes } from './routes/processes.js';
import { runRoute } from './routes/run.js';
import { screenRoute } from './routes/screen.js';
import { sessionRoutes } from './routes/session.js';
import { startRoutes } from './routes/start.js';
import { stdinRoute } from './routes/stdin.js';
import { ticketRoute } from './routes/tickets.js';
import { transcriptRoutes } from './routes/transcript.js';
import { type WebFiles, webRoutes } from './routes/web.js';
import { limitUnsent } from './unsent-limit.js';
import { webFiles } from './web-files.js';

/** Longest part of a path, in characters: an id has at most 128. */
const MAX_PATH_PART = 512;

/** How often requests whose headers are still arriving are looked at, in milliseconds. */
const HEADERS_LOOK_MS = 5_000;

/** Processes and files, wherever they are: an `Environment`, or what is like one. */
export interface Machine {
  process: ExecProcess;
  files: ExecutorFileSystem;
  /** What keeps programs and calls of files to a policy. Default: nothing, and who asks for that is refused. */
  sandbox?: Sandbox | null | undefined;
  /** Whether they are behind another gateway. Default false. */
  elsewhere?: boolean | undefined;
  /** Whether the processes go on when this program ends. Default false. */
  outlived?: boolean | undefined;
}

/**
 * Builds the HTTP front of a machine. It does not listen yet.
 * @param logger where log lines go; by default standard error, at the level of the settings
 */
export function buildApp(config: AppConfig, machine: Machine, probes: Probes, logger?: FastifyBaseLogger): GatewayApp {
  const log = new RequestLog();
  const app = createServer(config, logger ?? createLogger(config.log_level), log);
  limitUnsent(app.server);
  // Every stream and long-poll listens to these.
  setMaxListeners(0, probes.stopping, probes.streamsEnd);

  // Checks of every request, in this order, before a body is read.
  addConnections(app, log);
  addReplyHeaders(app);
  addHostCheck(app, {
    host: config.listen.kind === 'tcp' ? config.listen.host : null,
    port: boundPort(app, config),
    allow_hosts: config.allow_hosts,
  });
  addOriginCheck(app, config.allow_origins);
  addCors(app, config.allow_origins);
  addShutdownCheck(app, () => probes.shutting_down());
  const keys = { tickets: new Tickets(config.token), sessions: new Sessions(config.token, config.session_ttl_ms) };
  addAuth(app, config.token, keys);
  addUnknownAddress(app);
  addExpectationCheck(app);
  addBodyTimeout(app, config.body_timeout_ms);
  addUnreadBody(app);

  addUploadBudget(app, config.max_body_bytes);
  addJsonParser(app);
  addValidation(app);
  addErrors(app, config.max_body_bytes);
  addWebSockets(app);

  const web = config.web_dir === null ? null : webFiles(config.web_dir);
  addRoutes(app, config, machine, probes, { counts: log.counts, keys, web });
  return app;
}

/** What routes need of the front around them. */
export interface Front {
  counts: RequestCounts;
  keys: Keys;
  /** The dashboard; null without one. */
  web: WebFiles | null;
}

/** Adds every route to a server that checks requests already. */
export function addRoutes(
  app: GatewayApp,
  config: AppConfig,
  { process: processes, files, sandbox, elsewhere, outlived }: Machine,
  probes: Probes,
  { counts, keys, web }: Front,
): void {
  healthRoutes(app, probes, config.token);
  startRoutes(app, processes);
  runRoute(app, processes);
  processRoutes(app, processes, probes);
  outputRoute(app, processes, probes);
  screenRoute(app, processes, probes);
  transcriptRoutes(app, processes);
  eventRoutes(app, processes, probes, config.heartbeat_ms);
  stdinRoute(app, processes);
  controlRoutes(app, processes);
  attachRoute(app, processes, probes, config.heartbeat_ms);
  ticketRoute(app, processes, keys.tickets);
  sessionRoutes(app, keys.sessions, config.token);
  fileRoutes(app, files, probes, config);
  metricsRoute(app, probes, counts, config);
  openapiRoute(app);
  if (web !== null) webRoutes(app, web);
  codexRoute(app, config, { process: processes, files, sandbox, elsewhere, outlived }, probes);
}

function codexRoute(
  app: GatewayApp,
  config: AppConfig,
  { process, files, sandbox = null, elsewhere = false, outlived = false }: Machine,
  { streamsEnd }: Probes,
): void {
  const { max_file_bytes, codex_linger_ms: linger_ms } = config;
  const log = (err: unknown) => app.log.error({ err }, 'a request of a Codex client failed');
  const codex = new CodexServer({ process, files, sandbox, elsewhere, outlived, max_file_bytes, linger_ms, end: streamsEnd, log });
  app.addHook('onClose', () => codex.ended());
  execServerRoute(app, (socket) => codex.accept(socket));
}

function createServer(config: AppConfig, logger: FastifyBaseLogger, log: RequestLog): GatewayApp {
  const app = fastify({
    loggerInstance: logger,
    // One logger for all requests: lines carry the request id themselves.
    childLoggerFactory: (parent) => parent,
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: (request) => requestId(request.headers['x-request-id']),
    bodyLimit: config.max_body_bytes,
    exposeHeadRoutes: false,
    // The shutdown check answers instead, in the form of all other errors.
    return503OnClosing: false,
    routerOptions: { maxParamLength: MAX_PATH_PART },
    // A missing Host is refused by the host check.
    http: { requireHostHeader: false, connectionsCheckingInterval: HEADERS_LOOK_MS },
    clientErrorHandler: answerBrokenRequest,
    // An address that cannot be decoded never reaches a hook.
    frameworkErrors: (error, request, reply) => {
      beginReply(request, reply, log);
      setReplyHeaders(request, reply);
      endHandedOver(request, reply);
      sendProblem(request, reply, toGatewayError(error, request, config.max_body_bytes));
    },
  }).withTypeProvider<TypeBoxTypeProvider>();
  return app;
}

/** The port that is bound, asked for once: the answer is a system call away. */
function boundPort(app: GatewayApp, { listen }: AppConfig): () => number {
  let port = listen.kind === 'tcp' ? listen.port : 0;
  app.addHook('onListen', (done) => {
    const address = app.server.address();
    if (address !== null && typeof address === 'object') port = address.port;
    done();
  });
  return () => port;
}
