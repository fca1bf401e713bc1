/**
 * The used part of the Responses API and of the package `openai`. The package is an optional peer dependency, so its
 * types may be missing.
 */
export interface ResponsesClient {
  responses: { create(request: ResponseRequest): Promise<ModelResponse> };
}

export type ClientClass = new (options: { apiKey: string }) => ResponsesClient;

export interface ResponseRequest {
  model: string;
  instructions: string;
  input: InputItem[];
  tools: FunctionDefinition[];
  previous_response_id?: string;
}

export type InputItem =
  | { role: 'user'; content: string }
  | { type: 'function_call_output'; call_id: string; output: string };

export interface FunctionDefinition {
  type: 'function';
  name: string;
  description: string;
  parameters: Record<string, unknown>;
  strict: true;
}

export interface FunctionCall {
  type: 'function_call';
  call_id: string;
  name: string;
  /** JSON. */
  arguments: string;
}

/** Other item types are internal to the service. */
export type OutputItem = FunctionCall | { type: 'message' | 'reasoning' };

export interface ModelResponse {
  id: string;
  /** The exact name of the model. */
  model?: string;
  status?: string;
  error?: { message: string } | null;
  incomplete_details?: { reason?: string } | null;
  output: OutputItem[];
  /** The text of the response, joined by the package. */
  output_text: string;
  usage?: Usage;
}

export interface Usage {
  input_tokens: number;
  input_tokens_details?: { cached_tokens?: number };
  output_tokens: number;
  output_tokens_details?: { reasoning_tokens?: number };
}
