import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { GatewayError } from '../protocol/index.js';
import { type SandboxPolicy, SandboxRefusal } from '../protocol/sandbox.js';
import type { LaunchSpec } from './child.js';
import { findPath } from './find-path.js';
import { type MountPlan, mountPlan } from './mount-plan.js';
import { withArg0 } from './pty-arg0.js';
import { checkInterpreter, resolveCommand } from './resolve-command.js';

/** Time for the trial, in milliseconds. */
const TRIAL_MS = 10_000;

/** How long a trial that failed counts, in milliseconds: what was missing may have been installed. */
const RETRY_MS = 30_000;

/** A tiny program in a sandbox like any other; it fails where the sandbox does not hold. */
const TRIAL: SandboxPolicy = { rules: [{ path: '/', access: 'read', skip_missing: false }], network: false };
const PROBE = '[ ! -w / ] && [ ! -w /proc/sys/kernel/core_pattern ]';

/**
 * Signals to a group also reach the bubblewrap that waits for the program, which is not what they are meant for. SIGCHLD it needs,
 * SIGKILL and SIGSTOP spare nobody.
 */
const IGNORED =
  'HUP,INT,QUIT,ILL,TRAP,ABRT,BUS,FPE,USR1,SEGV,USR2,PIPE,ALRM,TERM,TSTP,TTIN,TTOU,URG,XCPU,XFSZ,VTALRM,PROF,WINCH,POLL,PWR,SYS';

/** Programs that make a sandbox, by their absolute paths. */
export interface Bubblewrap {
  bwrap: string;
  /** GNU env: it alone sets back what happens at a signal. */
  env: string;
}

let tried: Promise<Bubblewrap> | null = null;

/**
 * The programs of the sandbox, once they were seen to work on this machine.
 * @throws {SandboxRefusal} that says what is missing
 */
export async function bubblewrap(): Promise<Bubblewrap> {
  tried ??= tryOut().catch((error) => {
    setTimeout(() => {
      tried = null;
    }, RETRY_MS).unref();
    throw error;
  });
  return await tried;
}

async function tryOut(): Promise<Bubblewrap> {
  const programs = { bwrap: program('bwrap', 'bubblewrap'), env: program('env', 'GNU coreutils 8.31 or newer') };
  const [file, ...args] = wrapped(programs, mountPlan(TRIAL), { network: false, cwd: '/', argv: ['/bin/sh', '-c', PROBE] });
  try {
    await promisify(execFile)(file as string, args, { timeout: TRIAL_MS, killSignal: 'SIGKILL', cwd: '/' });
    return programs;
  } catch (error) {
    const said = String((error as { stderr?: string }).stderr ?? '').trim() || (error as Error).message;
    throw new SandboxRefusal(`This machine cannot enforce a sandbox: a trial of bubblewrap failed (${said.slice(0, 300)}).`);
  }
}

function program(name: string, from: string): string {
  try {
    return resolveCommand(name, '/', process.env.PATH);
  } catch {
    throw new SandboxRefusal(`This machine cannot enforce a sandbox: ${name} (${from}) is not on the PATH of the gateway.`);
  }
}

/** What runs under a plan, and how. */
interface Wrapped {
  network: boolean;
  cwd: string;
  argv: readonly string[];
  /** Further mounts. */
  more?: string[];
  /**
   * Hides a file behind one that may not be opened. Default: behind a device that may not, which whoever asks for its type can tell.
   * @param nth the number of the file, from 0
   */
  hide?: (path: string, nth: number) => string[];
}

/** Bound without the right to devices, it cannot be opened. */
const behindDevice = (path: string): string[] => ['--ro-bind', '/dev/null', path];

/** What to run so that `argv` runs under a plan. */
export function wrapped(
  { bwrap, env }: Bubblewrap,
  plan: MountPlan,
  { network, cwd, argv, more = [], hide = behindDevice }: Wrapped,
): string[] {
  return [
    ...[env, `--ignore-signal=${IGNORED}`, bwrap],
    ...['--die-with-parent', '--unshare-user', '--unshare-pid', '--unshare-ipc', ...(network ? [] : ['--unshare-net'])],
    ...['--cap-drop', 'ALL', ...plan.args, ...plan.hidden.flatMap(hide), ...more, ...plan.closing],
    ...['--chdir', cwd, '--', env, '--default-signal', ...argv],
  ];
}

/**
 * The launch of a program under a policy.
 * @throws {SandboxRefusal}
 * @throws {GatewayError} for a program or directory that the policy hides
 */
export function confined(spec: LaunchSpec, policy: SandboxPolicy, programs: Bubblewrap): LaunchSpec {
  const plan = mountPlan(policy);
  if (plan.access(findPath(spec.cwd).path) === 'deny')
    throw new GatewayError('cwd_not_found', `cwd ${JSON.stringify(spec.cwd)} is hidden by the sandbox.`, { field: 'cwd' });
  if (plan.access(findPath(spec.path).path) === 'deny')
    throw new GatewayError('command_not_found', `argv[0] ${JSON.stringify(spec.path)} is hidden by the sandbox.`, { field: 'argv[0]' });
  if (plan.access(findPath(programs.env).path) === 'deny')
    throw new SandboxRefusal(`The sandbox hides ${programs.env}, without which nothing is started in it.`);
  checkInterpreter(spec.path, spec.cwd);
  const run = withArg0(spec);
  if (run[0]?.includes('=')) throw new SandboxRefusal(`A program whose name holds "=" is not started in a sandbox: ${run[0]}.`);
  // Bubblewrap sets PWD: the variables are to be those that were asked for.
  const pwd = spec.env.PWD === undefined ? ['-u', 'PWD', '--'] : ['--', `PWD=${spec.env.PWD}`];
  const argv = wrapped(programs, plan, { network: policy.network, cwd: spec.cwd, argv: [...pwd, ...run] });
  return { ...spec, command: programs.env, path: programs.env, argv };
}
