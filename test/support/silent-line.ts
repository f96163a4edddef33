import { Line } from './line.js';

/** A line that may fall silent: connections that begin then are taken, and nothing is carried on them. */
export class SilentLine extends Line {
  silent = false;

  private constructor(target: URL) {
    super(target, (near, far) => {
      if (!this.silent) near.pipe(far).pipe(near);
    });
  }

  static open(target: string): Promise<SilentLine> {
    return new SilentLine(new URL(target)).listen();
  }
}
