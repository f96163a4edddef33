import axe from 'axe-core';
import type { Dashboard } from './dashboard.js';

/** What axe-core says is serious or critical. It is run by the debugger, past the policy of the page. */
export async function findings({ page }: Dashboard): Promise<string[]> {
  await page.evaluate(axe.source);
  const { violations } = await page.evaluate(() => (window as unknown as { axe: typeof axe }).axe.run());
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => `${id}: ${nodes.map(({ html, failureSummary }) => `${html} ${failureSummary}`).join('; ')}`);
}
