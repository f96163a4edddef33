import { dirname } from 'node:path/posix';
import { type SandboxPolicy, SandboxRefusal, type SandboxRule } from '../protocol/sandbox.js';
import { type FoundPath, findPath } from './find-path.js';

/** Rules of one policy: each costs a mount, and looks at every part of its path. */
const MOST_RULES = 256;

/** What every sandbox has of its own, so that no rule can speak of it. */
const OWN = ['/dev', '/proc'];

type Access = SandboxRule['access'];

/** Of two rules for one path the higher holds. */
const RANK: Record<Access, number> = { read: 1, write: 2, deny: 3 };

/** Mounts that make a policy true. */
export interface MountPlan {
  /** For bubblewrap, in order. */
  args: string[];
  /** Files, sockets and the like that are to be there and not to be opened. */
  hidden: string[];
  /** For bubblewrap, after all others. */
  closing: string[];
  /** Places of this machine that are shown: what is there now is what stays shown. */
  sources: string[];
  /** What may be done at a path without links. */
  access(path: string): Access;
}

type Found = FoundPath & { rule: SandboxRule };

/**
 * Plans the mounts of a policy, from shallow to deep, so that the most specific rule holds. Links and `..` of its paths are
 * followed now.
 * @throws {SandboxRefusal} for what mounts cannot keep
 */
export function mountPlan({ rules }: SandboxPolicy): MountPlan {
  if (rules.length > MOST_RULES) throw new SandboxRefusal(`The sandbox has ${rules.length} rules, and the limit is ${MOST_RULES}.`);
  const found = rules.map((rule) => ({ ...findPath(rule.path), rule }));
  const map = new AccessMap();
  for (const { path, kind, rule } of found) if (kind !== 'missing') map.set(path, rule.access);
  for (const place of found) check(place, map);
  const kinds = new Map(found.map(({ path, kind }) => [path, kind]));
  const inner = map.paths.filter((path) => path !== '/' && !isOwn(path) && map.of(path) !== map.of(dirname(path)));
  const pins = inner.filter((path) => map.of(path) !== 'write').flatMap((path) => pinned(path, map));
  const places = [...new Set([...inner, ...pins])].sort((a, b) => depth(a) - depth(b) || (a < b ? -1 : 1));
  const hidden = places.filter((path) => map.of(path) === 'deny' && kinds.get(path) === 'other');
  const closed = places.filter((path) => map.of(path) === 'deny' && kinds.get(path) !== 'other');
  return {
    args: [...base(map.of('/')), ...symlinks(found, map), ...places.flatMap((path) => (hidden.includes(path) ? [] : mount(path, map)))],
    hidden,
    closing: [...(map.of('/') === 'deny' ? ['/'] : []), ...closed].flatMap((path) => ['--remount-ro', path]),
    sources: ['/', ...places].filter((path) => map.of(path) !== 'deny'),
    access: (path) => map.of(path),
  };
}

/** Which rule holds where. */
class AccessMap {
  readonly #rules = new Map<string, Access>();

  get paths(): string[] {
    return [...this.#rules.keys()];
  }

  set(path: string, access: Access): void {
    const had = this.#rules.get(path);
    if (!had || RANK[access] > RANK[had]) this.#rules.set(path, access);
  }

  of(path: string): Access {
    for (let at = path; ; at = dirname(at)) {
      const found = this.#rules.get(at);
      if (found) return found;
      if (at === '/') return 'deny';
    }
  }
}

/** Refuses a rule that mounts would not keep. */
function check({ path, kind, links, rule }: Found, map: AccessMap): void {
  const what = `The sandbox asks for ${rule.access} at ${rule.path}`;
  if (isOwn(path) && !(rule.access === 'read' && OWN.includes(path))) {
    throw new SandboxRefusal(`${what}: every sandbox here has /dev and /proc of its own.`);
  }
  // Who may write there could put another link in its place.
  const loose = links.find(({ at }) => map.of(dirname(at)) === 'write');
  if (loose)
    throw new SandboxRefusal(`${what}, by way of the link ${loose.at}, which the sandbox itself lets be replaced: name where it leads.`);
  if (kind !== 'missing' || rule.access === 'write' || rule.skip_missing || map.of(path) !== 'write') return;
  throw new SandboxRefusal(`${what}, where nothing is yet and the sandbox lets anything be made: make it, or leave it out.`);
}

const isOwn = (path: string): boolean => OWN.some((own) => path === own || path.startsWith(`${own}/`));

const depth = (path: string): number => path.split('/').length;

/** The directories between a place and the top of what may be written around it: as mounts they cannot be moved away with it. */
function pinned(path: string, map: AccessMap): string[] {
  const pins: string[] = [];
  for (let at = dirname(path); at !== '/' && map.of(at) === 'write' && map.of(dirname(at)) === 'write'; at = dirname(at)) pins.push(at);
  return pins;
}

/** The root, and what every sandbox has of its own. The knobs of the kernel are for nobody, whoever the user is. */
function base(root: Access): string[] {
  const own = ['--dev', '/dev', '--proc', '/proc', '--remount-ro', '/proc'];
  if (root === 'read') return ['--ro-bind', '/', '/', ...own];
  if (root === 'write') return ['--bind', '/', '/', ...own, '--ro-bind', '/sys', '/sys'];
  return ['--tmpfs', '/', ...own];
}

/** Links on the way of a rule that would be missing, because nothing is shown where they are. */
function symlinks(found: Found[], map: AccessMap): string[] {
  const needed = found.flatMap(({ links }) => links).filter(({ at }) => map.of(dirname(at)) === 'deny' && map.of('/') === 'deny');
  const unique = new Map(needed.map(({ at, target }) => [at, target]));
  return [...unique].flatMap(([at, target]) => ['--symlink', target, at]);
}

function mount(path: string, map: AccessMap): string[] {
  const access = map.of(path);
  if (access === 'write') return ['--bind', path, path];
  if (access === 'read') return ['--ro-bind', path, path];
  const leadsOn = map.paths.some((other) => other.startsWith(`${path}/`) && map.of(other) !== 'deny');
  return ['--perms', leadsOn ? '0111' : '0000', '--tmpfs', path];
}
