import { AcorError } from '../../../protocol/acor-error.ts';
import { explainStep } from '../../../protocol/next-steps.ts';
import { nearestWords } from '../../../util/nearest.ts';
import { commandDetail, commandSections } from './commands.ts';
import { errorSections } from './errors.ts';
import type { Facts } from './facts.ts';
import { overview, practiceSections, securitySections } from './overview.ts';
import { protocolSections } from './protocol.ts';
import { decisionSections, runSections } from './runs.ts';
import type { Section } from './section.ts';
import { manifestSections, toolSections, toolsSection } from './tools.ts';

interface Topic {
  about: string;
  sections: (facts: Facts) => Section[];
}

/** The topics besides the overview. */
export const TOPICS: Readonly<Record<string, Topic>> = {
  commands: { about: 'every command and its call', sections: commandSections },
  decisions: { about: 'questions of tools and their answers', sections: decisionSections },
  errors: { about: 'every error code and what to do', sections: errorSections },
  manifests: { about: 'how a tool is described', sections: manifestSections },
  practices: { about: 'what works well, in calls and in tools', sections: practiceSections },
  protocol: { about: 'the events of a run and their fields', sections: protocolSections },
  runs: { about: 'starting, following, stopping, resuming', sections: runSections },
  security: { about: 'how tools are confined, and what a person must allow', sections: securitySections },
  tools: {
    about: 'every tool of this project',
    sections: (facts) => [toolsSection(facts, facts.tools.length)],
  },
};

/** The topics that exist for each tool and each command. */
export const FAMILIES: Readonly<Record<string, string>> = {
  'tool:<name>': 'one tool: inputs, limits, what it may ask',
  'command:<name>': 'one command: arguments and flags',
};

/** The explanation of a topic; without one, the overview. Throws E_USAGE for an unknown topic. */
export function sectionsOf(topic: string | undefined, facts: Facts): Section[] {
  if (topic === undefined) return overview(facts);
  if (Object.hasOwn(topicsFor(facts).topics, topic)) return TOPICS[topic]!.sections(facts);
  const [family, name] = split(topic);
  const tool = family === 'command' ? undefined : facts.tools.find((each) => each.name === name);
  if (tool !== undefined) return toolSections(tool, facts);
  const command =
    family === 'tool' || facts.hasCalls ? undefined : facts.commands.find((each) => each.command === name);
  if (command !== undefined) return commandDetail(command);
  throw unknownTopic(topic, facts);
}

/** The names of all topics. The name of a tool or a command is also accepted without its family. */
export function topicNames(facts: Facts): string[] {
  return [
    ...Object.keys(topicsFor(facts).topics),
    ...facts.tools.map(({ name }) => `tool:${name}`),
    ...(facts.hasCalls ? [] : facts.commands.map(({ command }) => `command:${command}`)),
  ];
}

/** The topics and families that the caller can use: one with calls has no commands. */
export function topicsFor({ hasCalls }: Pick<Facts, 'hasCalls'>): {
  topics: Readonly<Record<string, Topic>>;
  families: Readonly<Record<string, string>>;
} {
  if (!hasCalls) return { topics: TOPICS, families: FAMILIES };
  const { commands: _, ...topics } = TOPICS;
  const { 'command:<name>': __, ...families } = FAMILIES;
  return { topics, families };
}

function split(topic: string): [family: string | undefined, name: string] {
  const match = /^(tool|command):(.*)$/s.exec(topic);
  return match === null ? [undefined, topic] : [match[1], match[2]!];
}

function unknownTopic(topic: string, facts: Facts): AcorError {
  const names = topicNames(facts);
  const bare = names.flatMap((name) => [name, split(name)[1]]);
  const near = [...new Set(nearestWords(topic, bare))];
  const { topics, families } = topicsFor(facts);
  const listed = [...Object.keys(topics), ...Object.keys(families)].join(', ');
  return new AcorError('E_USAGE', `there is no topic called ${JSON.stringify(topic)}`, {
    hint: `${near.length === 0 ? '' : `Did you mean ${near.join(' or ')}? `}Topics: ${listed}`,
    details: { topic, nearest: near, topics: names },
    next: [...near.map((name) => explainStep({ topic: name })), explainStep()],
  });
}
