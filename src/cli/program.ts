import { Command } from 'commander';
import type { CpOptions } from './cp-options.js';
import type { DoctorOptions, DrainOptions, HostOptions, StatusOptions } from './host-options.js';
import type { AttachOptions, KillOptions, LogsOptions, PsOptions, RmOptions, WaitOptions } from './process-options.js';
import type { RunOptions } from './run-options.js';
import type { ServeOptions } from './serve-options.js';
import { VERSION } from './version.js';

const processes = () => import('./process-options.js');
const hosts = () => import('./host-options.js');

/** Each command with its action, in the order of the help. What one needs takes time to load, and the others do without. */
const COMMANDS: Record<string, () => Promise<Command>> = {
  serve: async () =>
    (await import('./serve-options.js'))
      .serveCommand()
      .action(async (options: ServeOptions) => (await import('./serve.js')).serve(options)),
  run: async () =>
    (await import('./run-options.js'))
      .runCommand()
      .action(async (argv: string[], options: RunOptions) => (await import('./run.js')).run(argv, options)),
  ps: async () => (await processes()).psCommand().action(async (options: PsOptions) => (await import('./ps.js')).ps(options)),
  logs: async () =>
    (await processes()).logsCommand().action(async (id: string, options: LogsOptions) => (await import('./logs.js')).logs(id, options)),
  attach: async () =>
    (await processes())
      .attachCommand()
      .action(async (id: string, options: AttachOptions) => (await import('./attach.js')).attach(id, options)),
  kill: async () =>
    (await processes()).killCommand().action(async (ids: string[], options: KillOptions) => (await import('./kill.js')).kill(ids, options)),
  rm: async () =>
    (await processes()).rmCommand().action(async (ids: string[], options: RmOptions) => (await import('./rm.js')).rm(ids, options)),
  wait: async () =>
    (await processes()).waitCommand().action(async (ids: string[], options: WaitOptions) => (await import('./wait.js')).wait(ids, options)),
  cp: async () =>
    (await import('./cp-options.js'))
      .cpCommand()
      .action(async (paths: string[], options: CpOptions) => (await import('./cp.js')).cp(paths, options)),
  status: async () =>
    (await hosts()).statusCommand().action(async (options: StatusOptions) => (await import('./status.js')).status(options)),
  drain: async () => (await hosts()).drainCommand().action(async (options: DrainOptions) => (await import('./drain.js')).drain(options)),
  doctor: async () =>
    (await hosts()).doctorCommand().action(async (options: DoctorOptions) => (await import('./doctor.js')).doctor(options)),
  host: async () => (await hosts()).hostCommand().action(async (options: HostOptions) => (await import('./host.js')).host(options)),
};

/** What the gateway starts by itself: no help shows it. */
const HIDDEN = 'host';

/** What a person is told begins with this: the program, and the command that these words name. */
export const spokenName = ([name = '']: string[]): string => (Object.hasOwn(COMMANDS, name) ? `exec-gateway ${name}` : 'exec-gateway');

/** The command line for these words: with the one command that they name, else with all. */
export async function program(words: string[]): Promise<Command> {
  const all = new Command('exec-gateway')
    .description('An HTTP gateway that starts, watches, feeds and ends processes, and moves files.')
    .version(VERSION)
    .enablePositionalOptions()
    .configureOutput({ outputError: (text, write) => write(text.replace(/^error: /, `${spokenName(words)}: `)) })
    .exitOverride();
  const [name = ''] = words;
  const named = Object.entries(COMMANDS).filter(([command]) => command === name);
  all.showHelpAfterError(`(try: ${spokenName(words)} --help)`);
  for (const [command, create] of named.length > 0 ? named : Object.entries(COMMANDS)) {
    all.addCommand((await create()).copyInheritedSettings(all), { hidden: command === HIDDEN });
  }
  return all;
}
