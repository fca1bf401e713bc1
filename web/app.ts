import { html, render } from 'htm/preact';
import { isConnected } from './connection.ts';
import { keepInbox, openQuestions } from './inbox.ts';
import { CostsPage } from './pages/costs.ts';
import { HealthPage } from './pages/health.ts';
import { InboxPage } from './pages/inbox.ts';
import { RunPage } from './pages/run.ts';
import { RunsPage } from './pages/runs.ts';
import { SchedulesPage } from './pages/schedules.ts';
import { ToolPage, ToolsPage } from './pages/tools.ts';
import { WorkflowPage, WorkflowsPage } from './pages/workflows.ts';
import { type Route, route } from './route.ts';

const PAGES = [
  { name: 'inbox', title: 'Inbox' },
  { name: 'runs', title: 'Runs' },
  { name: 'tools', title: 'Tools' },
  { name: 'workflows', title: 'Workflows' },
  { name: 'schedules', title: 'Schedules' },
  { name: 'costs', title: 'Costs' },
  { name: 'health', title: 'Health' },
] as const;

function App() {
  const { page } = route.value;
  const open = openQuestions.value?.length ?? 0;
  const toMain = () => document.getElementById('main')?.focus();
  return html`
    <header>
      <button type="button" class="skip" onClick=${toMain}>Skip to the content</button>
      <nav aria-label="Pages">
        ${PAGES.map(
          ({ name, title }) => html`
            <a key=${name} href=${`#/${name}`} aria-current=${page === name ? 'page' : undefined}>
              ${title}${name === 'inbox' && open > 0 && html` <span class="count">${open}</span>`}
            </a>`,
        )}
      </nav>
      <span role="status" class="connection">${isConnected.value ? '' : 'Not connected; trying again.'}</span>
    </header>
    <main id="main" tabindex="-1"><${Page} route=${route.value} /></main>
  `;
}

function Page({ route: { page, id, query } }: { route: Route }) {
  switch (page) {
    case 'runs':
      return id === undefined
        ? html`<${RunsPage} query=${query} />`
        : html`<${RunPage} key=${id} run=${id} query=${query} />`;
    case 'tools':
      return id === undefined ? html`<${ToolsPage} />` : html`<${ToolPage} key=${id} tool=${id} />`;
    case 'workflows':
      return id === undefined
        ? html`<${WorkflowsPage} />`
        : html`<${WorkflowPage} key=${id} workflow=${id} run=${query.get('run') ?? undefined} />`;
    case 'schedules':
      return html`<${SchedulesPage} />`;
    case 'costs':
      return html`<${CostsPage} query=${query} />`;
    case 'health':
      return html`<${HealthPage} />`;
    default:
      return html`<${InboxPage} />`;
  }
}

// The code in the address has done its work.
if (location.search !== '') history.replaceState(null, '', location.pathname + location.hash);
keepInbox();
render(html`<${App} />`, document.getElementById('app')!);
