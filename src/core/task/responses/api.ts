/** The part of the Responses API, and of the package `openai`, that is used here. The package is an optional peer: its types may not be there. */
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

/** Items of other types are the service's own business. */
export type OutputItem = FunctionCall | { type: 'message' | 'reasoning' };

export interface ModelResponse {
  id: string;
  status?: string;
  error?: { message: string } | null;
  incomplete_details?: { reason?: string } | null;
  output: OutputItem[];
  /** All that it says in words, joined by the package. */
  output_text: string;
  usage?: Usage;
}

export interface Usage {
  input_tokens: number;
  output_tokens: number;
}
