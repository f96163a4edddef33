// Runs a command on the gateway and ends as it ended: node examples/run.mjs uname -a
// Wants EXEC_GATEWAY_URL and EXEC_GATEWAY_TOKEN.
import { Gateway } from 'exec-gateway/client';

const { EXEC_GATEWAY_URL: url = 'http://127.0.0.1:8787', EXEC_GATEWAY_TOKEN: token = '' } = process.env;
const gateway = new Gateway({ url, token });
const argv = process.argv.slice(2);

const { exit_code, stdout, stderr } = await gateway.run(argv.length > 0 ? argv : ['uname', '-a']);
process.stdout.write(stdout);
process.stderr.write(stderr);
process.exitCode = exit_code ?? 1;
