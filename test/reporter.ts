import type { Reporter, TestCase, TestModule, TestSuite, Vitest } from 'vitest/node';

/**
 * Ends the run with one line on stdout, `tests: N passed, N failed, N skipped`, whatever else is printed.
 * Also counted as failed: a file or suite that fails outside its tests, a test that did not run or end, an error nobody caught.
 */
export default class Tally implements Reporter {
  private passed = 0;
  private failed = 0;
  private skipped: TestCase[] = [];
  private filtered = false;

  constructor() {
    process.on('exit', (code) => this.print(code));
  }

  onInit(vitest: Vitest): void {
    this.filtered = vitest.config.testNamePattern !== undefined;
    process.stdout.write(`node ${process.version} on ${process.platform} ${process.arch}\n`);
  }

  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly unknown[]): void {
    this.passed = 0;
    this.failed = unhandled.length;
    this.skipped = [];
    for (const module of modules) this.count(module);
  }

  private count(module: TestModule): void {
    this.failed += module.errors().length;
    for (const suite of module.children.allSuites()) this.failed += suite.errors().length;
    for (const test of module.children.allTests()) {
      const { state } = test.result();
      if (state === 'passed') this.passed++;
      else if (state === 'skipped' && !broken(test.parent)) this.skipped.push(test);
      else this.failed++;
    }
  }

  private print(code: number): void {
    if (code !== 0 && this.failed === 0) this.failed = 1;
    if (this.failed > 0) process.exitCode = code || 1;
    if (!this.filtered) for (const test of this.skipped) process.stdout.write(skipText(test));
    process.stdout.write(`tests: ${this.passed} passed, ${this.failed} failed, ${this.skipped.length} skipped\n`);
  }
}

/** Whether a suite around a test failed in a hook of its own, so that the test could not run. */
function broken(around: TestSuite | TestModule): boolean {
  return around.errors().length > 0 || (around.type === 'suite' && broken(around.parent));
}

function skipText(test: TestCase): string {
  const result = test.result();
  const reason = (result.state === 'skipped' && result.note) || 'no reason given';
  return `SKIPPED ${test.module.relativeModuleId} > ${test.fullName}: ${reason}\n`;
}
