/** A warning is a fault that has not hurt yet: it becomes an uncaught error, and that fails the run. */
function fail(warning: Error): void {
  throw new Error(`Unexpected warning: ${warning.name}: ${warning.message}`, { cause: warning });
}

// This runs once for each file, in a program that runs many.
const told = process.listeners('warning').some(({ name }) => name === fail.name);
if (!told) process.on('warning', fail);
