export { buildApp, type Machine } from './app.js';
export { type AppConfig, DEFAULT_CONFIG, type Listen, type LogLevel } from './config.js';
export {
  DEFAULT_LIMITS,
  DEFAULT_TRANSCRIPT_LIMITS,
  Environment,
  type EnvironmentOptions,
  type ProcessLimits,
  type TellTrouble,
  type TranscriptLimits,
} from './environment.js';
export type { Probes } from './plugins/probes.js';
export type { ProcessStats } from './protocol/process-stats.js';
