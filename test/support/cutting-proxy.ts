import { Line } from './line.js';

const CLOSING_BRACE = '}'.charCodeAt(0);

/**
 * Decides for each connection, counted from 0, after how many bytes of answer it is cut; null lets it live. 0 cuts it as
 * soon as a request with a JSON body was passed on: it arrives, and its answer does not.
 */
export type Cut = (count: number) => number | null;

/** A line between client and gateway that breaks: it forwards bytes, and resets connections after some of the answer. */
export class CuttingProxy extends Line {
  private constructor(target: URL, cut: Cut) {
    super(target, (near, far, count) => {
      let room = cut(count) ?? Number.POSITIVE_INFINITY;
      near.on('data', (bytes) => {
        far.write(bytes);
        if (room > 0 || bytes.at(-1) !== CLOSING_BRACE) return;
        this.cuts++;
        far.end();
        near.resetAndDestroy();
      });
      far.on('data', (bytes) => {
        if (room <= 0) return; // cut already: more of the answer may still arrive
        near.write(bytes.subarray(0, room));
        room -= bytes.length;
        if (room > 0) return;
        this.cuts++;
        near.resetAndDestroy();
      });
    });
  }

  static open(target: string, cut: Cut): Promise<CuttingProxy> {
    return new CuttingProxy(new URL(target), cut).listen();
  }
}
