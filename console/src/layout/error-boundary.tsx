/**
 * Keeps a page that fails from taking the navigation with it, and says what happened.
 */
import { Component, type ReactNode } from 'react';
import { ProblemNotice } from '../ui/notice.js';

interface Props {
  readonly children: ReactNode;
}

export class ErrorBoundary extends Component<Props, { readonly error: unknown }> {
  override state: { readonly error: unknown } = { error: null };

  static getDerivedStateFromError(error: unknown): { readonly error: unknown } {
    return { error };
  }

  override render(): ReactNode {
    if (this.state.error === null) return this.props.children;
    return (
      <div className="asking">
        <ProblemNotice error={this.state.error} onRetry={() => this.setState({ error: null })} />
      </div>
    );
  }
}
