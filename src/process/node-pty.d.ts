// The native part of node-pty, which its own types leave out. The version is pinned for it.
declare module 'node-pty' {
  export const native: {
    fork(
      file: string,
      args: string[],
      env: string[],
      cwd: string,
      cols: number,
      rows: number,
      uid: number,
      gid: number,
      utf8: boolean,
      helper_path: string,
      on_exit: (code: number, signal: number) => void,
    ): { fd: number; pid: number; pty: string };
    resize(fd: number, cols: number, rows: number): void;
  };
}
