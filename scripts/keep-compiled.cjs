// `node --require` this: at its end the program keeps what the engine compiled of each script it loaded, beside the script.
const { existsSync, writeFileSync } = require('node:fs');
const { basename, join } = require('node:path');
const vm = require('node:vm');

const scripts = new Map();
const { Script } = vm;
vm.Script = class extends Script {
  constructor(source, options) {
    super(source, options);
    scripts.set(join(__dirname, '../dist/cli', `${basename(options.filename)}.compiled`), this);
  }
};
process.on('exit', () => {
  for (const [file, script] of scripts) if (!existsSync(file)) writeFileSync(file, script.createCachedData());
});
