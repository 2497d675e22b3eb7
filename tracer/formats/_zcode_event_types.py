"""The types of ZCode's session events (formats/zcode.md 4.2)."""

_GROUPS = {
    "session": "session_created session_resumed session_forked session_compacted "
    "session_title_updated session_mode_changed session_ended",
    "turn": "turn_started turn_input_received turn_complete turn_error",
    "queue": "turn_steer_queued turn_steer_delivery_changed turn_steer_dispatch_changed "
    "turn_steer_drained turn_steer_rejected turn_steer_discarded session_input_promoted "
    "turn_steer_reordered queue_auto_drain_changed followup_mode_changed",
    "messages": "user_message assistant_message assistant_feedback_updated system_message",
    "model": "model_request model_selected model_streaming model_network_status "
    "model_anomaly_warning network_request_status model_complete model_error",
    "recovery": "streaming_tool_ledger_updated stream_recovery_anchor_created "
    "stream_recovery_started stream_recovery_anchor_selected stream_recovery_tail_discarded "
    "stream_recovery_retry_started stream_recovery_blocked",
    "tools": "tool_call_scheduled tool_call_started tool_call_progress tool_call_result "
    "tool_call_error tool_batch_complete",
    "background": "background_task_started background_task_updated background_task_completed "
    "dynamic_workflow_run_progress",
    "permission": "permission_requested permission_resolved permission_denied "
    "user_input_auto_resolution_updated",
    "hooks": "workspace_hook_review_requested workspace_hook_review_settled "
    "workspace_hook_review_superseded workspace_hook_admission_updated hook_run_started "
    "hook_run_progress hook_run_completed hook_run_failed hook_run_blocked",
    "compaction": "compact_started compact_completed compact_failed compact_boundary "
    "microcompact_boundary",
    "rewind": "rewind_triggered checkpoint_created target_changed target_completion_verification",
    "subagent": "subagent_spawned subagent_message subagent_stopped",
    "control": "interrupt cancel resume error",
}

TYPES = {name: group for group, names in _GROUPS.items() for name in names.split()}
"""Every known type and its group."""
