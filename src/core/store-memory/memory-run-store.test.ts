import { blobStoreContract } from '../../../test/contracts/blob-store.ts';
import { controlChannelContract } from '../../../test/contracts/control-channel.ts';
import { leaseContract } from '../../../test/contracts/lease.ts';
import { runStoreContract } from '../../../test/contracts/run-store.ts';
import { commandOf } from '../../operations/command-forms.ts';
import { MemoryBlobStore } from './memory-blob-store.ts';
import { MemoryLeases } from './memory-leases.ts';
import { MemoryRunStore } from './memory-run-store.ts';

const store = new MemoryRunStore(commandOf);
const leases = new MemoryLeases();

blobStoreContract('memory', () => new MemoryBlobStore());
runStoreContract('memory', { open: () => store, lose: (runId) => store.leases.lose(runId) });
leaseContract('memory', { open: () => leases, lose: (runId) => leases.lose(runId) });
controlChannelContract('memory', { open: () => store, lose: (runId) => store.leases.lose(runId) });
