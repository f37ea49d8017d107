/** What the page uses of Preact. */
export interface VNode { type: unknown; props: unknown; key: unknown }
export type Child = VNode | string | number | boolean | null | undefined | Child[];
export function h(type: unknown, props: object | null, ...children: Child[]): VNode;
export function render(node: Child, parent: Element): void;
