// Starts a process, follows it live over dropped connections, and ends it on Ctrl-C: node examples/follow.mjs make -j8
// Wants EXEC_GATEWAY_URL and EXEC_GATEWAY_TOKEN.
import { Gateway } from 'exec-gateway/client';

const { EXEC_GATEWAY_URL: url = 'http://127.0.0.1:8787', EXEC_GATEWAY_TOKEN: token = '' } = process.env;
const gateway = new Gateway({ url, token });
const argv = process.argv.slice(2);

const { process_id } = await gateway.start(argv.length > 0 ? argv : ['sh', '-c', 'for i in 1 2 3; do echo tick $i; sleep 0.1; done']);
process.once('SIGINT', () => void gateway.terminate(process_id));

for await (const event of gateway.follow(process_id)) {
  if (event.event === 'output') (event.stream === 'stderr' ? process.stderr : process.stdout).write(event.chunk);
  else if (event.event === 'gap') process.stderr.write(`(${event.bytes ?? 'some'} bytes were printed faster than they could be kept)\n`);
  else if (event.event === 'exited') process.exitCode = event.exit_code;
}
