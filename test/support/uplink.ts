import { Line } from './line.js';

/** A line that carries so many bytes towards a gateway on each connection, counted from 0, and is then reset; null lets it live. */
export class Uplink extends Line {
  private constructor(target: URL, room: (count: number) => number | null) {
    super(target, (near, far, count) => {
      let left = room(count) ?? Number.POSITIVE_INFINITY;
      far.pipe(near);
      near.on('data', (bytes) => {
        far.write(bytes.subarray(0, left));
        left -= bytes.length;
        if (left > 0) return;
        this.cuts++;
        near.resetAndDestroy();
        far.end();
      });
    });
  }

  static open(target: string, room: (count: number) => number | null): Promise<Uplink> {
    return new Uplink(new URL(target), room).listen();
  }
}
