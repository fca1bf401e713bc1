/**
 * Every name that ACOR gives to spans and attributes. Those of gen_ai and process follow the conventions of OpenTelemetry, of which gen_ai is
 * still in development (https://github.com/open-telemetry/semantic-conventions-genai).
 */
export const ATTRIBUTES = {
  genAiOperation: 'gen_ai.operation.name',
  toolName: 'gen_ai.tool.name',
  agentName: 'gen_ai.agent.name',
  inputTokens: 'gen_ai.usage.input_tokens',
  outputTokens: 'gen_ai.usage.output_tokens',
  model: 'gen_ai.response.model',
  errorType: 'error.type',
  exitCode: 'process.exit.code',
  serviceName: 'service.name',
  serviceVersion: 'service.version',
  runId: 'acor.run.id',
  kind: 'acor.run.kind',
  state: 'acor.run.state',
  caller: 'acor.caller',
  taskId: 'acor.task.id',
  attempt: 'acor.attempt',
  events: 'acor.events',
  costUsd: 'acor.cost.usd',
  action: 'acor.action',
  actionId: 'acor.action_id',
  answeredBy: 'acor.answered_by',
} as const;

/** The operation of a run by its kind, which begins the name of its span. */
export const OPERATIONS = {
  tool: 'execute_tool',
  workflow: 'invoke_workflow',
  pipe: 'invoke_workflow',
  task: 'invoke_agent',
} as const;

export const SPAN_NAMES = { attempt: 'attempt', waiting: 'wait_for_answer' } as const;

export const SCOPE = 'acor';
