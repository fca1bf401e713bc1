import type { Presenter } from '../../compose/terminal.ts';
import { documentOf } from '../../operations/system/explain.ts';

export const explanationPresenter = { data: documentOf } satisfies Presenter;
