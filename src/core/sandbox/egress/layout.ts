import type { EgressPlan } from './egress-plan.ts';
import { coversHost, isNamed, type NamedRule, nameOf } from './host.ts';

/** A listening socket in the network of a tool, and its purpose. */
export interface Listener {
  address: string;
  port: number;
  serves: NamedRule | 'proxy' | 'names';
}

/** The content of a tool's network: its listeners, and how names resolve to them. */
export interface EgressLayout {
  listeners: readonly Listener[];
  /** Additional addresses of its loopback device. */
  addresses: readonly string[];
  /** The addresses that replace names there. */
  aliases: ReadonlyMap<string, string>;
  hostsFile: string;
  resolverFile: string;
  env: Readonly<Record<string, string>>;
}

const PROXY_ADDRESS = '127.0.0.1';
const FIRST_PROXY_PORT = 3128;
/** Answers queries for names that are not in the hosts file. */
const NAMES_ADDRESS = '127.1.255.53';
const NAMES_PORT = 53;

/** Gives each named host a separate address in 127.1.0.0/16, which identifies the host in any protocol. */
export function layOut({ rules }: EgressPlan): EgressLayout {
  const named = rules.filter(isNamed);
  const literals = new Set(named.flatMap(({ host }) => (host.kind === 'address' ? [host.address] : [])));
  const aliases = new Map<string, string>([['localhost', '127.0.0.1']]);
  let count = 0;
  const addressOf = ({ host }: NamedRule): string => {
    if (host.kind === 'address') return host.address;
    let alias = aliases.get(host.name);
    while (alias === undefined) {
      count++;
      const free = `127.1.${count >> 8}.${count & 0xff}`;
      if (!literals.has(free)) alias = free;
    }
    aliases.set(host.name, alias);
    return alias;
  };
  const direct = named.map((rule) => ({ address: addressOf(rule), port: rule.port, serves: rule }));
  const listeners = withoutDoubles(direct);
  const isTaken = (address: string, port: number) =>
    listeners.some((each) => each.address === address && each.port === port);
  let proxyPort = FIRST_PROXY_PORT;
  while (isTaken(PROXY_ADDRESS, proxyPort)) proxyPort++;
  return {
    listeners: [
      ...listeners,
      { address: PROXY_ADDRESS, port: proxyPort, serves: 'proxy' },
      { address: NAMES_ADDRESS, port: NAMES_PORT, serves: 'names' },
    ],
    addresses: [...literals].filter((address) => !address.startsWith('127.') && address !== '::1'),
    aliases,
    hostsFile: hostsFile(aliases),
    // TCP only: a listening TCP socket can be passed to another process, a datagram socket cannot.
    resolverFile: `nameserver ${NAMES_ADDRESS}\noptions use-vc timeout:1 attempts:1\n`,
    env: proxyEnvironment(`http://${PROXY_ADDRESS}:${proxyPort}`, rules, named),
  };
}

/** Different spellings of `a.test:443` count once. */
function withoutDoubles(listeners: readonly Listener[]): Listener[] {
  const key = ({ address, port }: Listener) => `${address} ${port}`;
  return [...new Map(listeners.map((each) => [key(each), each])).values()];
}

function hostsFile(aliases: ReadonlyMap<string, string>): string {
  const lines = [...aliases]
    .filter(([name]) => name !== 'localhost')
    .map(([name, address]) => `${address} ${name}\n`);
  return `127.0.0.1 localhost sandbox\n::1 localhost\n${lines.join('')}`;
}

/** Programs that honour these variables use the proxy for all other hosts, because its refusal contains the reason. */
function proxyEnvironment(
  url: string,
  rules: EgressPlan['rules'],
  named: readonly NamedRule[],
): Record<string, string> {
  const wide = rules.filter((rule) => !isNamed(rule));
  // Most programs treat `example.com` in NO_PROXY as including its subdomains. If some of these need the proxy, the
  // host uses the proxy too.
  const isDirect = ({ host }: NamedRule) =>
    !wide.some(
      ({ host: other }) =>
        other.kind === 'any' ||
        (other.kind === 'below' && `.${other.domain}`.endsWith(`.${nameOf(host)}`)) ||
        (other.kind !== 'below' && coversHost(other, host)),
    );
  const direct = named.filter(isDirect).map(({ host }) => nameOf(host));
  const except = [...new Set(['localhost', '127.0.0.1', '::1', ...direct])].join(',');
  return {
    HTTP_PROXY: url,
    HTTPS_PROXY: url,
    http_proxy: url,
    https_proxy: url,
    NO_PROXY: except,
    no_proxy: except,
    NODE_USE_ENV_PROXY: '1',
  };
}
