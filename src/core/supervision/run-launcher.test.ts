import { runLauncherContract } from '../../../test/contracts/run-launcher.ts';
import { inlineLauncher, servicesInMemory } from '../../../test/support/services-in-memory.ts';
import { commandOf } from '../../operations/command-forms.ts';
import { FileRunStore } from '../store-files/file-run-store.ts';
import { SupervisorPool } from './supervisor-pool.ts';

runLauncherContract('pool of processes', async (project) => ({
  launcher: new SupervisorPool(project.environment()),
  store: new FileRunStore(project.runsDir, commandOf),
}));

runLauncherContract('in this process', async (project) => {
  const services = await servicesInMemory(project);
  return { launcher: inlineLauncher(services), store: services.store };
});
