import { renderCatalog } from '../../compose/catalog-view.ts';
import type { Presenter } from '../../compose/terminal.ts';

export const catalogPresenter = { data: renderCatalog } satisfies Presenter;
