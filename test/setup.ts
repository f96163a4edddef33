/** A warning is a fault that has not hurt yet: it becomes an uncaught error, and that fails the run. */
process.on('warning', (warning) => {
  throw new Error(`Unexpected warning: ${warning.name}: ${warning.message}`, { cause: warning });
});
