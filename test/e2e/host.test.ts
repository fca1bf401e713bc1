import { hostCallsContract } from '../contracts/host-calls.ts';
import { ACOR } from '../support/project.ts';

hostCallsContract('the program', ACOR);
