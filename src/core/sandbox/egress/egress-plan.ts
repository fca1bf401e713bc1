import { AcorError } from '../../../protocol/acor-error.ts';
import type { HttpRule } from '../../../protocol/manifest-permissions.ts';
import type { SecretInjection } from '../../../protocol/manifest-secrets.ts';
import { execProgram } from '../../../protocol/names.ts';
import { canonicalAddress, reachOf } from './address.ts';
import { covers, type EgressRule, type Host, isNamed, readHost, readRule, withPort } from './host.ts';

/** More listeners would take too long to create. */
const MAX_RULES = 200;

/** The hosts that a tool may access, from its manifest and the configuration. */
export interface EgressPlan {
  rules: readonly EgressRule[];
  /** Non-public addresses that the configuration allows (`security.allow_private_egress`). */
  opened: readonly EgressRule[];
  /** Fixed addresses of names (`security.egress_hosts`), by canonical name. */
  hosts: ReadonlyMap<string, string>;
  /** The secrets that are put into requests. */
  injections: readonly HostInjection[];
  /** The limits of requests. */
  requests: readonly RequestRule[];
  /** Files with further authorities for hosts whose TLS ends here (`security.egress_authorities`). */
  authorities: readonly string[];
  /** The file and the list that hold the rules; null for a call that lists them in flags. */
  manifest?: { file: string; path: string } | null;
  /** Whether a host that no rule covers is asked for (`security.on_denied`). */
  asks?: true;
}

/** A secret that is put into a header of the requests to one host. */
export interface HostInjection {
  host: Host;
  port: number;
  secret: string;
  header: string;
  /** With `{}` for the value. */
  format: string;
}

/** Which requests may be sent to the hosts of a rule. */
export interface RequestRule extends EgressRule {
  port: number;
  /** All if undefined. */
  methods?: readonly string[] | undefined;
  paths?: readonly string[] | undefined;
  maxUploadBytes?: number | undefined;
}

/** The part of the configuration that concerns connections. */
export interface EgressSettings {
  allow_private_egress: readonly string[];
  egress_hosts: Readonly<Record<string, string>>;
  egress_authorities?: readonly string[];
}

/**
 * Parses a tool's egress rules. Throws E_MANIFEST_INVALID or E_CONFIG_INVALID with all invalid entries, and
 * E_POLICY_DENIED for addresses that would always be refused.
 */
export function planEgress(
  tool: string,
  asked: readonly string[],
  settings: EgressSettings,
  {
    injections = [],
    requests = [],
  }: { injections?: readonly SecretInjection[]; requests?: readonly HttpRule[] } = {},
): EgressPlan {
  const rules = readAll(asked, (bad) => unreadable(tool, bad));
  if (rules.length > MAX_RULES) throw tooMany(tool, rules.length);
  const opened = readAll(settings.allow_private_egress, unreadableOpening);
  const plan = {
    rules,
    opened,
    hosts: readHosts(settings.egress_hosts),
    injections: injections.flatMap((each) => injectionsOf(tool, each)),
    requests: requests.flatMap((each) => requestRules(tool, each)),
    authorities: settings.egress_authorities ?? [],
  };
  const closed = rules.filter((rule) => isNamed(rule) && isClosed(plan, rule.host, rule.port));
  if (closed.length > 0) throw closedAddresses(tool, closed);
  return plan;
}

function readAll(texts: readonly string[], refuse: (bad: string[]) => AcorError): EgressRule[] {
  const read = [...new Set(texts)].map((text) => ({ text, rule: readRule(text) }));
  const bad = read.filter(({ rule }) => rule === undefined).map(({ text }) => text);
  if (bad.length > 0) throw refuse(bad);
  return read.map(({ rule }) => rule!);
}

function injectionsOf(
  tool: string,
  { name: secret, hosts, header, format }: SecretInjection,
): HostInjection[] {
  return readAll(hosts, (bad) => unreadable(tool, bad))
    .filter(isNamed)
    .map(({ host, port }) => ({ host, port, secret, header, format }));
}

function requestRules(tool: string, { host, methods, paths, max_upload }: HttpRule): RequestRule[] {
  return readAll([host], (bad) => unreadable(tool, bad)).map((rule) => ({
    ...rule,
    // The schema of the manifest requires one.
    port: rule.port!,
    methods,
    paths,
    maxUploadBytes: max_upload,
  }));
}

function readHosts(hosts: Readonly<Record<string, string>>): ReadonlyMap<string, string> {
  return new Map(
    Object.entries(hosts).map(([text, target]) => {
      const host = readHost(text);
      const address = canonicalAddress(target);
      if (host?.kind !== 'name' || address === undefined) throw unreadableHost(text, target);
      return [host.name, address];
    }),
  );
}

/** Whether a literal address would always be refused. */
export function isClosed({ opened }: Pick<EgressPlan, 'opened'>, host: Host, port: number): boolean {
  if (host.kind !== 'address') return false;
  return reachOf(host.address) !== 'public' && !opened.some((each) => covers(each, host, port));
}

/** The same by the configuration, for a tool without such a plan. */
export function isClosedBy(
  { allow_private_egress }: Pick<EgressSettings, 'allow_private_egress'>,
  host: Host,
  port: number,
): boolean {
  return isClosed({ opened: readAll(allow_private_egress, unreadableOpening) }, host, port);
}

function unreadable(tool: string, bad: readonly string[]): AcorError {
  if (execProgram(tool) !== undefined) {
    return new AcorError('E_USAGE', `--net must be host:port, got ${bad.join(', ')}`, {
      hint: `Add the port: ${bad.map((each) => `${each.split(/[:/]/, 1)[0] || 'api.example.com'}:443`).join(', ')}`,
      details: { entries: bad },
    });
  }
  return new AcorError(
    'E_MANIFEST_INVALID',
    `permissions.network.egress_allow of tool '${tool}' contains entries that are not host:port: ${bad.join(', ')}`,
    {
      hint: 'Write a name or an address with a port: api.example.com:443, 192.0.2.7:5432, [2001:db8::7]:443; or *.example.com:443 for all names below a domain. A port is 1 to 65535 or *.',
      details: { entries: bad },
    },
  );
}

function unreadableOpening(bad: readonly string[]): AcorError {
  return new AcorError(
    'E_CONFIG_INVALID',
    `security.allow_private_egress contains entries that are not host:port: ${bad.join(', ')}`,
    { hint: 'Write host:port, such as db.internal:5432 or 10.1.2.3:443.', details: { entries: bad } },
  );
}

function unreadableHost(name: string, address: string): AcorError {
  return new AcorError(
    'E_CONFIG_INVALID',
    `security.egress_hosts maps '${name}' to '${address}': one of them is not valid`,
    { hint: 'Write a name and its address, such as db.internal: 10.1.2.3.' },
  );
}

function tooMany(tool: string, count: number): AcorError {
  return new AcorError(
    'E_MANIFEST_INVALID',
    `permissions.network.egress_allow of tool '${tool}' has ${count} entries; at most ${MAX_RULES} are allowed`,
    { hint: 'Use *.example.com:443 for the names below a domain.' },
  );
}

function closedAddresses(tool: string, rules: readonly EgressRule[]): AcorError {
  const names = rules.map(({ host, port }) =>
    withPort(host.kind === 'address' ? host.address : '', port ?? '*'),
  );
  return new AcorError(
    'E_POLICY_DENIED',
    `tool '${tool}' requests addresses that are not public: ${names.join(', ')}`,
    {
      hint: `To allow these hosts, write in .acor/config.yaml, under security.allow_private_egress: ${names.map((name) => `- '${name}'`).join(' ')}`,
      details: { addresses: names },
    },
  );
}
